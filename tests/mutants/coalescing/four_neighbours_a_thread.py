"""MUST GET: gate, cause global load sectors. Lanes stand four elements apart."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.y
    for i in range(4):
        column = cuda.blockIdx.x * 16 + cuda.threadIdx.x * 4 + i
        if cuda.threadIdx.x < 4 and row < out.shape[0] and column < out.shape[1]:
            out[row, column] = a[row, column]
