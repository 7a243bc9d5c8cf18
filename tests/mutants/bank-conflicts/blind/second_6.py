"""MUST GET: gate, cause global load sectors.

No tile at all: writes rows of out but reads down columns of a, a sector for each lane.
"""

from wia_lab import cuda


@cuda.jit
def transpose(out, a):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    y0, x0 = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32  # corner of the block's tile of out
    for i in range(0, 32, 8):
        row, column = y0 + y + i, x0 + x
        if row < out.shape[0] and column < out.shape[1]:
            out[row, column] = a[column, row]
