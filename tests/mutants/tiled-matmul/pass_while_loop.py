"""MUST PASS. A while loop over k, and limits on the last tile."""

from numba import float32

from wia_lab import cuda

TILE = 16


@cuda.jit
def tiled_matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column = cuda.blockIdx.x * cuda.blockDim.x + x
    row = cuda.blockIdx.y * cuda.blockDim.y + y
    inside = row < c.shape[0] and column < c.shape[1]
    total = float32(0)
    start = 0
    while start < a.shape[1]:
        if row < a.shape[0] and start + x < a.shape[1]:
            tile_a[y, x] = a[row, start + x]
        if start + y < b.shape[0] and column < b.shape[1]:
            tile_b[y, x] = b[start + y, column]
        cuda.syncthreads()
        if inside:
            for k in range(min(TILE, a.shape[1] - start)):
                total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
        start += TILE
    if inside:
        c[row, column] = total
