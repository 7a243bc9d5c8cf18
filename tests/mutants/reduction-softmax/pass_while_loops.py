"""MUST PASS. Steps that halve, in while loops, and two sets of cells."""

import math

from numba import float32

from wia_lab import cuda

THREADS = 128
ALL = 0xFFFFFFFF


@cuda.jit
def row_softmax(out, a):
    cells = cuda.shared.array(8, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    value = float32(-math.inf)
    for x in range(t, a.shape[1], THREADS):
        value = max(value, a[r, x])
    step = 16
    while step > 0:
        value = max(value, cuda.shfl_xor_sync(ALL, value, step))
        step //= 2
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    highest = max(max(cells[0], cells[1]), max(cells[2], cells[3]))
    value = float32(0)
    for x in range(t, a.shape[1], THREADS):
        value += math.exp(a[r, x] - highest)
    step = 16
    while step > 0:
        value += cuda.shfl_xor_sync(ALL, value, step)
        step //= 2
    if t % 32 == 0:
        cells[4 + t // 32] = value
    cuda.syncthreads()
    total = cells[4] + cells[5] + cells[6] + cells[7]
    for x in range(t, a.shape[1], THREADS):
        out[r, x] = math.exp(a[r, x] - highest) / total
