"""MUST PASS. Block and thread indices added up by hand, numba's own cuda."""

from numba import cuda


@cuda.jit
def strided_copy(out, a):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < a.shape[0] and column < a.shape[1]:
        value = a[row, column]
        out[row, column] = value
