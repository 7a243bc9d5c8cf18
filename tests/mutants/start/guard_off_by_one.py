"""MUST GET: out-of-bounds, line @R. Lets one thread too many pass."""

from wia_lab import cuda


@cuda.jit
def add_one(out, a):
    i = cuda.grid(1)
    if i <= out.size:
        out[i] = a[i] + 1
