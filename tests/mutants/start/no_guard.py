"""MUST GET: out-of-bounds, line @R. The last block's idle threads store too."""

from wia_lab import cuda


@cuda.jit
def add_one(out, a):
    i = cuda.grid(1)
    out[i] = a[i] + 1
