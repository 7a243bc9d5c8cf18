"""MUST GET: unwritten, cause last-row-and-column.

Leaves out the last row and the last column, from a wrong early return.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    last_row, last_column = out.shape[0] - 1, out.shape[1] - 1
    if row >= last_row or column >= last_column:
        return
    out[row, column] = a[row, column]
