"""MUST GET: wrong-value, line 11, cause transposed. Copies a[column, row]."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        if column < a.shape[0] and row < a.shape[1]:
            out[row, column] = a[column, row]
