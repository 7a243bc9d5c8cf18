"""MUST GET: gate, cause global store requests. Clears the element first."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 0
        out[i] = a[i] + b[i]
