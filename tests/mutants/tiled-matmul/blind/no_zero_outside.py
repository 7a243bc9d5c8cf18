"""MUST GET: uninitialised-read, line 29.

Cells whose element lies outside are not set to 0 and keep what the round before left there.
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
    M, K = a.shape
    N = b.shape[1]
    total = float32(0)
    for t in range((K + TILE - 1) // TILE):
        if row < M and t * TILE + x < K:
            tile_a[y, x] = a[row, t * TILE + x]
        if t * TILE + y < K and column < N:
            tile_b[y, x] = b[t * TILE + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < M and column < N:
        c[row, column] = total
