"""MUST PASS. Threads outside return at once."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    if row >= out.shape[0] or column >= out.shape[1]:
        return
    out[row, column] = a[row, column]
