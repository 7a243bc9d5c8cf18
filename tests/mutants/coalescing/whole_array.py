"""MUST GET: typing, line 9. Leaves the copy to NumPy."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    out[row, column] = a.copy()[row, column]
