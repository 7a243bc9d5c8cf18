"""MUST GET: unwritten, cause whole-sweeps-only.

Only whole sweeps of 128 (n // 128, rounded down), so the end of the row is left out.
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
    sweeps = a.shape[1] // THREADS
    top = float32(-math.inf)
    for i in range(sweeps):
        top = max(top, a[r, t + i * THREADS])
    for s in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(ALL, top, s))
    if t % 32 == 0:
        cells[t // 32] = top
    cuda.syncthreads()
    top = max(max(cells[0], cells[1]), max(cells[2], cells[3]))
    cuda.syncthreads()
    total = float32(0)
    for i in range(sweeps):
        total += math.exp(a[r, t + i * THREADS] - top)
    for s in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(ALL, total, s)
    if t % 32 == 0:
        cells[t // 32] = total
    cuda.syncthreads()
    total = cells[0] + cells[1] + cells[2] + cells[3]
    for i in range(sweeps):
        j = t + i * THREADS
        out[r, j] = math.exp(a[r, j] - top) / total
