"""MUST GET: undefined-name, line 19. The tile's name is misspelt where it is read."""

from numba import float32

from wia_lab import cuda


@cuda.jit
def transpose(out, a):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    tile = cuda.shared.array((32, 33), float32)
    for i in range(0, 32, 8):
        if x0 + y + i < a.shape[0] and y0 + x < a.shape[1]:
            tile[y + i, x] = a[x0 + y + i, y0 + x]
    cuda.syncthreads()
    for i in range(0, 32, 8):
        if y0 + y + i < out.shape[0] and x0 + x < out.shape[1]:
            out[y0 + y + i, x0 + x] = tiel[x, y + i]  # noqa: F821
