"""MUST GET: out-of-bounds, line 11, cause range-too-long. Counts rows one too far."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    x, y = cuda.grid(2)
    for row in range(y, out.shape[0] + 1, cuda.gridDim.y * cuda.blockDim.y):
        if x < out.shape[1]:
            out[row, x] = a[row, x]
