"""MUST GET: out-of-bounds, line 9. Threads beyond the edge copy too."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    out[row, column] = a[row, column]
