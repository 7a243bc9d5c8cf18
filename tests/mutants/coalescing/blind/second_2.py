"""MUST GET: unwritten, cause guards-swapped.

The two lengths of the guard are swapped: row against the columns, column against rows.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.y
    column = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    if row < out.shape[1] and column < out.shape[0]:
        out[row, column] = a[row, column]
