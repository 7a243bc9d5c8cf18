"""MUST GET: unwritten, cause guards-swapped. Compares the row with the number of columns."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    if row < out.shape[1] and column < out.shape[0]:
        out[row, column] = a[row, column]
