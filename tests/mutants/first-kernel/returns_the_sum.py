"""MUST GET: typing, line 10. Hands the sum back, as a function would, and stores nothing."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        return a[i] + b[i]
    return None
