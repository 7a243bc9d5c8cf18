"""MUST GET: out-of-bounds, line 10. Lets one thread too many pass."""

from wia_lab import cuda


@cuda.jit
def square(out, a):
    i = cuda.grid(1)
    if i <= out.size:
        out[i] = a[i] * a[i]
