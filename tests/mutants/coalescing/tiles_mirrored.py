"""MUST GET: wrong-value, line 13, cause mirrored-tiles. Turns each tile round."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 16, cuda.blockIdx.x * 16
    row, column = y0 + y, x0 + x
    if row < out.shape[0] and column < out.shape[1]:
        if y0 + x < a.shape[0] and x0 + y < a.shape[1]:
            out[row, column] = a[y0 + x, x0 + y]
