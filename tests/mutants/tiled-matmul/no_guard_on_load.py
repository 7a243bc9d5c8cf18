"""MUST GET: out-of-bounds, line 19. Loads outside the matrices."""

from numba import float32

from wia_lab import cuda

TILE = 16


@cuda.jit
def tiled_matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        ka, kb = t * TILE + x, t * TILE + y
        tile_a[y, x] = a[row, ka]
        tile_b[y, x] = b[kb, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
