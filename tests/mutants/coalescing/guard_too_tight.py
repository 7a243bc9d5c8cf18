"""MUST GET: unwritten, cause last-row-and-column. Leaves out the last row and column."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    if row < out.shape[0] - 1 and column < out.shape[1] - 1:
        out[row, column] = a[row, column]
