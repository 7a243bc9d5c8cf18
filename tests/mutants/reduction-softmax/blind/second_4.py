"""MUST GET: wrong-value, line 41, cause first-step-missing.

Shuffles begin at step 8, one short: each half of a warp keeps its own maximum and sum.
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
    for s in (8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(ALL, top, s))
    if t % 32 == 0:
        cells[t // 32] = top
    cuda.syncthreads()
    top = max(max(cells[0], cells[1]), max(cells[2], cells[3]))
    cuda.syncthreads()
    total = float32(0)
    for j in range(t, n, THREADS):
        total += math.exp(a[r, j] - top)
    for s in (8, 4, 2, 1):
        total += cuda.shfl_xor_sync(ALL, total, s)
    if t % 32 == 0:
        cells[t // 32] = total
    cuda.syncthreads()
    total = cells[0] + cells[1] + cells[2] + cells[3]
    for j in range(t, n, THREADS):
        out[r, j] = math.exp(a[r, j] - top) / total
