"""MUST GET: wrong-value, line 46, cause first-k-again.

The eight numbers are read into registers once a round, before the loop over k, and used for all 16
k.
"""

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
            sums[i, j] = 0
    for t in range((a.shape[1] + TILE - 1) // TILE):
        k0 = t * TILE
        for i in range(4):
            r, k = y0 + y + 16 * i, k0 + x
            tile_a[y + 16 * i, x] = a[r, k] if r < a.shape[0] and k < a.shape[1] else float32(0)
            s, q = k0 + y, x0 + x + 16 * i
            tile_b[y, x + 16 * i] = b[s, q] if s < b.shape[0] and q < b.shape[1] else float32(0)
        cuda.syncthreads()
        for i in range(4):
            left[i] = tile_a[y + 16 * i, 0]
            right[i] = tile_b[0, x + 16 * i]
        for _ in range(TILE):
            for i in range(4):
                for j in range(4):
                    sums[i, j] += left[i] * right[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            r, q = y0 + y + 16 * i, x0 + x + 16 * j
            if r < c.shape[0] and q < c.shape[1]:
                c[r, q] = sums[i, j]
