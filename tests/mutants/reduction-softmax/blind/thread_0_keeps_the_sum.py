"""MUST GET: wrong-value, line 49, cause total-of-thread-0.

Only thread 0 joins the four warps' sums and does not share the result; the others divide by their
warp's sum.
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
    warp, lane = t // 32, t % 32
    n = a.shape[1]
    biggest = float32(-math.inf)
    for j in range(t, n, THREADS):
        biggest = max(biggest, a[r, j])
    step = 16
    while step > 0:
        biggest = max(biggest, cuda.shfl_xor_sync(ALL, biggest, step))
        step //= 2
    if lane == 0:
        cells[warp] = biggest
    cuda.syncthreads()
    biggest = max(max(cells[0], cells[1]), max(cells[2], cells[3]))
    cuda.syncthreads()
    total = float32(0)
    for j in range(t, n, THREADS):
        total += math.exp(a[r, j] - biggest)
    step = 16
    while step > 0:
        total += cuda.shfl_xor_sync(ALL, total, step)
        step //= 2
    if lane == 0:
        cells[warp] = total
    cuda.syncthreads()
    if t == 0:
        total = cells[0] + cells[1] + cells[2] + cells[3]
    cuda.syncthreads()
    for j in range(t, n, THREADS):
        out[r, j] = math.exp(a[r, j] - biggest) / total
