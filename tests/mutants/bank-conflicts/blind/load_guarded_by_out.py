"""MUST GET: uninitialised-read, line 20. The load from a is guarded with the shape of out."""

from numba import float32

from wia_lab import cuda


@cuda.jit
def transpose(out, a):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    rows, cols = out.shape
    tile = cuda.shared.array((32, 33), float32)
    for i in range(0, 32, 8):
        if x0 + y + i < rows and y0 + x < cols:
            tile[y + i, x] = a[x0 + y + i, y0 + x]
    cuda.syncthreads()
    for i in range(0, 32, 8):
        if y0 + y + i < rows and x0 + x < cols:
            out[y0 + y + i, x0 + x] = tile[x, y + i]
