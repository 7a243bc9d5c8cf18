"""MUST GET: unwritten. Leaves the last element out."""

from wia_lab import cuda


@cuda.jit
def square(out, a):
    i = cuda.grid(1)
    if i < out.size - 1:
        out[i] = a[i] * a[i]
