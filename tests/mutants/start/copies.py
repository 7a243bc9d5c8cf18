"""MUST GET: wrong-value, line 10, cause copied. Forgets to multiply."""

from wia_lab import cuda


@cuda.jit
def square(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
