"""MUST GET: unwritten, cause swapped-x-and-y.

cuda.grid(2) gives x first, but x is taken for the row.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    row, column = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column]
