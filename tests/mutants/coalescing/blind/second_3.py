"""MUST GET: out-of-bounds, line 14, cause guard-includes-the-length.

The guard uses <= and lets in one row and one column too many.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.y
    column = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    if row <= out.shape[0] and column <= out.shape[1]:
        out[row, column] = a[row, column]
