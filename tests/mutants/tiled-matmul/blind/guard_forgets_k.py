"""MUST GET: out-of-bounds, line 25.

The loads are guarded by row and column of c, not along K, so the last round reads past the rows of
a and past the end of b.
"""

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
        tile_a[y, x] = float32(0)
        tile_b[y, x] = float32(0)
        if row < c.shape[0]:
            tile_a[y, x] = a[row, t * TILE + x]
        if column < c.shape[1]:
            tile_b[y, x] = b[t * TILE + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
