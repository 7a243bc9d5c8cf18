"""MUST GET: gate, cause global load sectors. One thread copies 16 neighbours in turn."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    if cuda.threadIdx.y == 0 and row < out.shape[0]:
        for i in range(16):
            column = cuda.blockIdx.x * 16 + i
            if column < out.shape[1]:
                out[row, column] = a[row, column]
