"""MUST GET: out-of-bounds, line 43. Stores without a guard, so the edge blocks write outside c."""

from numba import float32

from wia_lab import cuda

TILE = 16


@cuda.jit
def register_matmul(a, b, c):
    tile_a = cuda.shared.array((64, TILE), float32)
    tile_b = cuda.shared.array((TILE, 64), float32)
    sums = cuda.local.array((4, 4), float32)
    left = cuda.local.array(4, float32)
    right = cuda.local.array(4, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    for i in range(4):
        for j in range(4):
            sums[i, j] = float32(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        ka, kb = t * TILE + x, t * TILE + y
        for i in range(4):
            row, column = y0 + y + 16 * i, x0 + x + 16 * i
            tile_a[y + 16 * i, x] = (
                a[row, ka] if row < a.shape[0] and ka < a.shape[1] else float32(0)
            )
            tile_b[y, x + 16 * i] = (
                b[kb, column] if kb < b.shape[0] and column < b.shape[1] else float32(0)
            )
        cuda.syncthreads()
        for k in range(TILE):
            for i in range(4):
                left[i] = tile_a[y + 16 * i, k]
                right[i] = tile_b[k, x + 16 * i]
            for i in range(4):
                for j in range(4):
                    sums[i, j] += left[i] * right[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            c[y0 + y + 16 * i, x0 + x + 16 * j] = sums[i, j]
