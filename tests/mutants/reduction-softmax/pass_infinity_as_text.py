"""MUST PASS. Writes the least number as float('-inf')."""

import math

from numba import float32

from wia_lab import cuda

THREADS = 128
ALL = 0xFFFFFFFF


@cuda.jit
def row_softmax(out, a):
    cells = cuda.shared.array(4, float32)  # a number a warp
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    value = float32(float("-inf"))
    for x in range(t, a.shape[1], THREADS):
        value = max(value, a[r, x])
    for step in (16, 8, 4, 2, 1):
        value = max(value, cuda.shfl_xor_sync(ALL, value, step))
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    highest = max(max(cells[0], cells[1]), max(cells[2], cells[3]))
    cuda.syncthreads()
    value = float32(0)
    for x in range(t, a.shape[1], THREADS):
        value += math.exp(a[r, x] - highest)
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(ALL, value, step)
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    total = cells[0] + cells[1] + cells[2] + cells[3]
    for x in range(t, a.shape[1], THREADS):
        out[r, x] = math.exp(a[r, x] - highest) / total
