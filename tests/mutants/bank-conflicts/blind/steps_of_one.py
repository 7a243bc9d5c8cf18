"""MUST GET: uninitialised-read, line 25.

The four elements of a thread follow each other instead of standing 8 rows apart, so threads
overlap and rows 11 to 31 of the tile are never moved.
"""

from numba import float32

from wia_lab import cuda


@cuda.jit
def transpose(out, a):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    tile = cuda.shared.array((32, 33), float32)
    for i in range(4):
        r, c = x0 + y + i, y0 + x
        if r < a.shape[0] and c < a.shape[1]:
            tile[y + i, x] = a[r, c]
    cuda.syncthreads()
    for i in range(4):
        r, c = y0 + y + i, x0 + x
        if r < out.shape[0] and c < out.shape[1]:
            out[r, c] = tile[x, y + i]
