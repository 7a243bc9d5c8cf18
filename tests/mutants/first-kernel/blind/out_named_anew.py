"""MUST GET: typing, line 12. The sum is given to the name out and never stored in the array."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    n = out.shape[0]
    if i < n:
        s = a[i] + b[i]
        out = s
