"""MUST GET: race, line 41.

Cells is used again for the sums with no barrier after the maxima were read from it.
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
    step = 16
    while step > 0:
        top = max(top, cuda.shfl_xor_sync(ALL, top, step))
        step //= 2
    if t % 32 == 0:
        cells[t // 32] = top
    cuda.syncthreads()
    for w in range(4):
        top = max(top, cells[w])
    total = float32(0)
    for j in range(t, n, THREADS):
        total += math.exp(a[r, j] - top)
    step = 16
    while step > 0:
        total += cuda.shfl_xor_sync(ALL, total, step)
        step //= 2
    if t % 32 == 0:
        cells[t // 32] = total
    cuda.syncthreads()
    total = cells[0] + cells[1] + cells[2] + cells[3]
    for j in range(t, n, THREADS):
        out[r, j] = math.exp(a[r, j] - top) / total
