"""MUST GET: input-changed. Uses a for the sum on the way."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        a[i] += b[i]
        out[i] = a[i]
