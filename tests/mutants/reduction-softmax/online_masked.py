"""MUST GET: wrong-value, line 39, cause nan-from-minus-inf. Rescales from -inf to -inf."""

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
        higher = max(top, a[r, x])
        total = total * math.exp(top - higher) + math.exp(a[r, x] - higher)
        top = higher
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
