"""MUST GET: out-of-bounds, line 10. <= lets one row and column too many in."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    if row <= out.shape[0] and column <= out.shape[1]:
        out[row, column] = a[row, column]
