"""MUST GET: gate, cause global store sectors. Reads along rows, writes down columns."""

from numba import float32

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        tile[y, x] = a[row, column]
    cuda.syncthreads()
    row = cuda.blockIdx.y * 16 + x
    column = cuda.blockIdx.x * 16 + y
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[x, y]
