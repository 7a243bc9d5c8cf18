"""MUST GET: wrong-value, line 14, cause transposed.

"Turn it round" was taken for a transpose: a is read with row and column exchanged.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.y
    column = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[column, row]
