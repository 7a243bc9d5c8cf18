"""MUST GET: out-of-bounds, line 9. The last block has threads without an element."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    out[i] = a[i] + b[i]
