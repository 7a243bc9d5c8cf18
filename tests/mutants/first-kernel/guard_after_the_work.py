"""MUST GET: out-of-bounds, line 9. Reads before it asks whether it may."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    total = a[i] + b[i]
    if i < out.size:
        out[i] = total
