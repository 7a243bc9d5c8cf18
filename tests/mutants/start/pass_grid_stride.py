"""MUST PASS. Each thread strides through the whole array."""

from wia_lab import cuda


@cuda.jit
def square(out, a):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] * a[i]
