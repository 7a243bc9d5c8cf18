"""MUST PASS. Goes on by the size of the grid."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i]
