"""MUST GET: gate, cause bank conflicts.

The tile of 32 x 32 is filled by columns, so the stores to shared memory conflict instead of the
reads.
"""

from numba import float32

from wia_lab import cuda


@cuda.jit
def transpose(out, a):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    tile = cuda.shared.array((32, 32), float32)
    for j in range(y, 32, 8):
        if x0 + j < a.shape[0] and y0 + x < a.shape[1]:
            tile[x, j] = a[x0 + j, y0 + x]
    cuda.syncthreads()
    for j in range(y, 32, 8):
        if y0 + j < out.shape[0] and x0 + x < out.shape[1]:
            out[y0 + j, x0 + x] = tile[j, x]
