"""MUST PASS. Goes on by the size of the grid."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, first = cuda.grid(2)
    for row in range(first, out.shape[0], cuda.gridDim.y * cuda.blockDim.y):
        if column < out.shape[1]:
            out[row, column] = a[row, column]
