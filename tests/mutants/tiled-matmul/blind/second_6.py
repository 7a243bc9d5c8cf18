"""MUST GET: gate, cause global load sectors.

Right sums, but the first index is taken for the row: loads run down columns.
"""

from numba import float32

from wia_lab import cuda

TILE = 16


@cuda.jit
def tiled_matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    r, s = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + r
    column = cuda.blockIdx.x * TILE + s
    total = float32(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        ka, kb = t * TILE + s, t * TILE + r
        tile_a[r, s] = a[row, ka] if row < a.shape[0] and ka < a.shape[1] else float32(0)
        tile_b[r, s] = b[kb, column] if kb < b.shape[0] and column < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[r, k] * tile_b[k, s]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
