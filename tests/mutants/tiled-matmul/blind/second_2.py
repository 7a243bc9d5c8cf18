"""MUST GET: wrong-value, line 34, cause whole-tiles-only.

The number of rounds is rounded down, so the last products of a K like 53 are lost.
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
    for t in range(a.shape[1] // TILE):
        if row < a.shape[0]:
            tile_a[y, x] = a[row, t * TILE + x]
        else:
            tile_a[y, x] = 0
        if column < b.shape[1]:
            tile_b[y, x] = b[t * TILE + y, column]
        else:
            tile_b[y, x] = 0
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
