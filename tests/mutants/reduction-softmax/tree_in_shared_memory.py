"""MUST GET: gate, cause shuffles with all 32 lanes. A tree in shared memory."""

import math

from numba import float32

from wia_lab import cuda

THREADS = 128
ALL = 0xFFFFFFFF


@cuda.jit
def row_softmax(out, a):
    cells = cuda.shared.array(THREADS, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    value = float32(-math.inf)
    for x in range(t, a.shape[1], THREADS):
        value = max(value, a[r, x])
    cells[t] = value
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            cells[t] = max(cells[t], cells[t + step])
        cuda.syncthreads()
        step //= 2
    highest = cells[0]
    cuda.syncthreads()
    value = float32(0)
    for x in range(t, a.shape[1], THREADS):
        value += math.exp(a[r, x] - highest)
    cells[t] = value
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            cells[t] += cells[t + step]
        cuda.syncthreads()
        step //= 2
    total = cells[0]
    for x in range(t, a.shape[1], THREADS):
        out[r, x] = math.exp(a[r, x] - highest) / total
