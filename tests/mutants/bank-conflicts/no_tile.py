"""MUST GET: gate, cause global load sectors. Writes rows, reads columns, no tile."""

from wia_lab import cuda


@cuda.jit
def transpose(out, a):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    for i in range(0, 32, 8):
        if y0 + y + i < out.shape[0] and x0 + x < out.shape[1]:
            out[y0 + y + i, x0 + x] = a[x0 + x, y0 + y + i]
