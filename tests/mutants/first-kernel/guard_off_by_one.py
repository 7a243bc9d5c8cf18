"""MUST GET: out-of-bounds, line 10. <= lets one thread too many pass."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i <= out.size:
        out[i] = a[i] + b[i]
