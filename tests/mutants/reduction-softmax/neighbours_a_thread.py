"""MUST GET: gate, cause sectors of a read. Each thread takes neighbours, so lanes stand apart."""

import math

from numba import float32

from wia_lab import cuda

THREADS = 128
ALL = 0xFFFFFFFF


@cuda.jit
def row_softmax(out, a):
    cells = cuda.shared.array(4, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    per = (a.shape[1] + THREADS - 1) // THREADS
    first, last = t * per, min((t + 1) * per, a.shape[1])
    value = float32(-math.inf)
    for x in range(first, last):
        value = max(value, a[r, x])
    for step in (16, 8, 4, 2, 1):
        value = max(value, cuda.shfl_xor_sync(ALL, value, step))
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    highest = max(max(cells[0], cells[1]), max(cells[2], cells[3]))
    cuda.syncthreads()
    value = float32(0)
    for x in range(first, last):
        value += math.exp(a[r, x] - highest)
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(ALL, value, step)
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    total = cells[0] + cells[1] + cells[2] + cells[3]
    for x in range(first, last):
        out[r, x] = math.exp(a[r, x] - highest) / total
