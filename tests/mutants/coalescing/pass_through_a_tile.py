"""MUST PASS. By way of shared memory, which it does not need."""

from numba import float32

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    tile = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        tile[y, x] = a[row, column]
        out[row, column] = tile[y, x]
