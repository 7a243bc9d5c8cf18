"""MUST GET: gate, cause sectors of a read. No reduction at all."""

import math

from numba import float32

from wia_lab import cuda

THREADS = 128
ALL = 0xFFFFFFFF


@cuda.jit
def row_softmax(out, a):
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    highest = a[r, 0]
    for x in range(1, a.shape[1]):
        highest = max(highest, a[r, x])
    total = float32(0)
    for x in range(a.shape[1]):
        total += math.exp(a[r, x] - highest)
    for x in range(t, a.shape[1], THREADS):
        out[r, x] = math.exp(a[r, x] - highest) / total
