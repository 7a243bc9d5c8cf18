"""MUST GET: uninitialised-read, line 29.

Threads whose element of c does not exist return first, before loading and the barriers.
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
    if row >= c.shape[0] or column >= c.shape[1]:
        return
    total = float32(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        ka = t * TILE + x
        kb = t * TILE + y
        tile_a[y, x] = a[row, ka] if ka < a.shape[1] else float32(0)
        tile_b[y, x] = b[kb, column] if kb < b.shape[0] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, column] = total
