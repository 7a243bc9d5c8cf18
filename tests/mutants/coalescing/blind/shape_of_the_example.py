"""MUST GET: out-of-bounds, line 10. The guard holds the example's 48 rows and 80 columns."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    if row < 48 and column < 80:
        out[row, column] = a[row, column]
