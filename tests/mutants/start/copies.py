"""MUST GET: wrong-value, line @R, cause copied. Forgets to add 1."""

from wia_lab import cuda


@cuda.jit
def add_one(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
