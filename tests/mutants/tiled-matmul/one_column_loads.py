"""MUST GET: gate, cause global load sectors. The first thread of each row loads for the others, one element after the other."""

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
        if x == 0:
            for j in range(TILE):
                ka, kb, cb = t * TILE + j, t * TILE + y, column + j
                tile_a[y, j] = a[row, ka] if row < a.shape[0] and ka < a.shape[1] else float32(0)
                tile_b[y, j] = b[kb, cb] if kb < b.shape[0] and cb < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
