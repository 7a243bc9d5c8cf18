"""MUST GET: input-changed. Squares the input too."""

from wia_lab import cuda


@cuda.jit
def square(out, a):
    i = cuda.grid(1)
    if i < out.size:
        a[i] *= a[i]
        out[i] = a[i]
