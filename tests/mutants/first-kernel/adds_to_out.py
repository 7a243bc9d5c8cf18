"""MUST GET: wrong-value, line 10, cause added-to-output. Adds to what out held before."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[i] += a[i] + b[i]
