"""MUST GET: divergent-barrier, line 35.

The shuffles for the sum stand inside the loop over elements, which some lanes leave early.
"""

import math

from numba import float32

from wia_lab import cuda

THREADS = 128
ALL = 0xFFFFFFFF


@cuda.jit
def row_softmax(out, a):
    cells = cuda.shared.array(4, float32)  # a number a warp
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    n = a.shape[1]
    top = float32(-math.inf)
    for j in range(t, n, THREADS):
        top = max(top, a[r, j])
    for s in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(ALL, top, s))
    if t % 32 == 0:
        cells[t // 32] = top
    cuda.syncthreads()
    top = max(max(cells[0], cells[1]), max(cells[2], cells[3]))
    cuda.syncthreads()
    total = float32(0)
    for j in range(t, n, THREADS):
        part = math.exp(a[r, j] - top)
        for s in (16, 8, 4, 2, 1):
            part += cuda.shfl_xor_sync(ALL, part, s)
        total += part
    if t % 32 == 0:
        cells[t // 32] = total
    cuda.syncthreads()
    total = cells[0] + cells[1] + cells[2] + cells[3]
    for j in range(t, n, THREADS):
        out[r, j] = math.exp(a[r, j] - top) / total
