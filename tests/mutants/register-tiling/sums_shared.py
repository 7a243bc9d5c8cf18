"""MUST GET: race, line 39, cause shared-for-local. All threads add to the same 16 sums."""

from numba import float32

from wia_lab import cuda

TILE = 16


@cuda.jit
def register_matmul(a, b, c):
    tile_a = cuda.shared.array((64, TILE), float32)
    tile_b = cuda.shared.array((TILE, 64), float32)
    sums = cuda.shared.array((4, 4), float32)
    left = cuda.local.array(4, float32)
    right = cuda.local.array(4, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    for i in range(4):
        for j in range(4):
            sums[i, j] = float32(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        for i in range(4):
            row, ka = y0 + y + 16 * i, t * TILE + x
            inside = row < a.shape[0] and ka < a.shape[1]
            tile_a[y + 16 * i, x] = a[row, ka] if inside else float32(0)
        for j in range(4):
            kb, column = t * TILE + y, x0 + x + 16 * j
            inside = kb < b.shape[0] and column < b.shape[1]
            tile_b[y, x + 16 * j] = b[kb, column] if inside else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            for i in range(4):
                left[i] = tile_a[y + 16 * i, k]
            for j in range(4):
                right[j] = tile_b[k, x + 16 * j]
            for i in range(4):
                for j in range(4):
                    sums[i, j] += left[i] * right[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            row, column = y0 + y + 16 * i, x0 + x + 16 * j
            if row < c.shape[0] and column < c.shape[1]:
                c[row, column] = sums[i, j]
