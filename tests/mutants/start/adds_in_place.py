"""MUST GET: wrong-value, line @R, cause added-to-output. Adds to what out held before."""

from wia_lab import cuda


@cuda.jit
def add_one(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] += a[i] + 1
