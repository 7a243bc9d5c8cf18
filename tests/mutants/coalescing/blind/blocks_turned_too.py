"""MUST GET: unwritten, cause swapped-x-and-y.

The thread indices were exchanged, and by mistake the block indices too, so blocks across stand for
rows.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    row = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    column = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column]
