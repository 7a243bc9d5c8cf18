"""MUST GET: wrong-value, line 26, cause axes-swapped. Takes x of the grid for the row."""

from numba import float32

from wia_lab import cuda

TILE = 16


@cuda.jit
def tiled_matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.grid(2)
    total = float32(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        ka, kb = t * TILE + x, t * TILE + y
        tile_a[y, x] = a[row, ka] if row < a.shape[0] and ka < a.shape[1] else float32(0)
        tile_b[y, x] = b[kb, column] if kb < b.shape[0] and column < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
