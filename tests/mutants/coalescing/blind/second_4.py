"""MUST GET: unwritten, cause other-block-size.

Counts blocks in steps of 32, the warp's size, where they have 16 threads a side.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    column = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column]
