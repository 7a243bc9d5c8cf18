"""MUST GET: out-of-bounds, line 9. The last block's idle threads store too."""

from wia_lab import cuda


@cuda.jit
def square(out, a):
    i = cuda.grid(1)
    out[i] = a[i] * a[i]
