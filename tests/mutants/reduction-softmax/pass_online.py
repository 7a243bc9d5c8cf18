"""MUST PASS. Maximum and sum in one pass over the row, rescaled when the maximum grows."""

import math

from numba import float32

from wia_lab import cuda

THREADS = 128
ALL = 0xFFFFFFFF


@cuda.jit
def row_softmax(out, a):
    tops = cuda.shared.array(4, float32)
    sums = cuda.shared.array(4, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    top, total = float32(-math.inf), float32(0)
    for x in range(t, a.shape[1], THREADS):
        value = a[r, x]
        if value > top:
            total = total * math.exp(top - value) + float32(1)
            top = value
        elif value > float32(-math.inf):
            total += math.exp(value - top)
    for step in (16, 8, 4, 2, 1):
        other_top = cuda.shfl_xor_sync(ALL, top, step)
        other_total = cuda.shfl_xor_sync(ALL, total, step)
        higher = max(top, other_top)
        if higher > float32(-math.inf):
            total = total * math.exp(top - higher) + other_total * math.exp(other_top - higher)
        top = higher
    if t % 32 == 0:
        tops[t // 32] = top
        sums[t // 32] = total
    cuda.syncthreads()
    highest = max(max(tops[0], tops[1]), max(tops[2], tops[3]))
    total = float32(0)
    for warp in range(4):
        total += sums[warp] * math.exp(tops[warp] - highest)
    for x in range(t, a.shape[1], THREADS):
        out[r, x] = math.exp(a[r, x] - highest) / total
