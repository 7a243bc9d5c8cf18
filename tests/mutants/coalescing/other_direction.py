"""MUST GET: unwritten. Copies out over a."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        a[row, column] = out[row, column]
