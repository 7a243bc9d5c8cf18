"""MUST GET: wrong-value, line 33, cause b-counted-along-x.

The row of b is counted with x as that of a is, so tile_b holds the wrong elements.
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
        k0 = t * TILE + x
        tile_a[y, x] = 0
        tile_b[y, x] = 0
        if row < a.shape[0] and k0 < a.shape[1]:
            tile_a[y, x] = a[row, k0]
        if k0 < b.shape[0] and column < b.shape[1]:
            tile_b[y, x] = b[k0, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
