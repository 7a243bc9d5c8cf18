"""MUST GET: gate, cause global store sectors. Reads rows, writes columns, no tile."""

from wia_lab import cuda


@cuda.jit
def transpose(out, a):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    for i in range(0, 32, 8):
        if x0 + y + i < a.shape[0] and y0 + x < a.shape[1]:
            out[y0 + x, x0 + y + i] = a[x0 + y + i, y0 + x]
