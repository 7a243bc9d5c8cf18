"""MUST GET: gate, cause global load sectors. Neighbours in x go down a column."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    column = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column]
