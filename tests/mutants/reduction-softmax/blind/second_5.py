"""MUST GET: wrong-value, line 44, cause nan-from-minus-inf.

Maximum and sum in one pass: where a thread's first score is -inf, -inf minus -inf is NaN.
"""

import math

from numba import float32

from wia_lab import cuda

THREADS = 128
ALL = 0xFFFFFFFF


@cuda.jit
def row_softmax(out, a):
    cells = cuda.shared.array(4, float32)  # a number a warp
    sums = cuda.shared.array(4, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    n = a.shape[1]
    mine = float32(-math.inf)
    total = float32(0)
    for j in range(t, n, THREADS):
        value = a[r, j]
        new = max(mine, value)
        total = total * math.exp(mine - new) + math.exp(value - new)
        mine = new
    top = mine
    for s in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(ALL, top, s))
    if t % 32 == 0:
        cells[t // 32] = top
    cuda.syncthreads()
    top = max(max(cells[0], cells[1]), max(cells[2], cells[3]))
    total = total * math.exp(mine - top)
    for s in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(ALL, total, s)
    if t % 32 == 0:
        sums[t // 32] = total
    cuda.syncthreads()
    total = sums[0] + sums[1] + sums[2] + sums[3]
    for j in range(t, n, THREADS):
        out[r, j] = math.exp(a[r, j] - top) / total
