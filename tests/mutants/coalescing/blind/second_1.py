"""MUST GET: out-of-bounds, line 13, cause guard-of-something-else.

Guards only the rows; threads right of the last column run into the next row or outside.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    if row < out.shape[0]:
        out[row, column] = a[row, column]
