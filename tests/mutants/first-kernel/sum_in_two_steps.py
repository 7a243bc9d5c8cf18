"""MUST GET: gate, cause global load requests. Reads back what it has just stored."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
        out[i] += b[i]
