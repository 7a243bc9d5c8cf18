"""MUST GET: gate, cause global load sectors.

Each thread loads the whole row and column that it needs, so all 16 threads of a row store the same
cells.
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
        for k in range(TILE):
            kk = t * TILE + k
            tile_a[y, k] = a[row, kk] if row < a.shape[0] and kk < a.shape[1] else float32(0)
            tile_b[k, x] = b[kk, column] if kk < b.shape[0] and column < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
