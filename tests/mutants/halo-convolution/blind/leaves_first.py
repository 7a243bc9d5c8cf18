"""MUST GET: uninitialised-read, line 30.

Threads without an output leave before they have loaded their cells and come to the barrier.
"""

from numba import float32

from wia_lab import cuda

CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2
BUFFER_SIZE = CONV_TILE_SIZE + 2 * HALO_SIZE


@cuda.jit
def halo_convolution(out, signal, taps):
    tile = cuda.shared.array(BUFFER_SIZE, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * CONV_TILE_SIZE
    i = start + t
    if i >= out.size:
        return
    for c in range(t, BUFFER_SIZE, CONV_TILE_SIZE):
        j = start + c - HALO_SIZE
        tile[c] = signal[j] if 0 <= j < signal.size else float32(0)
    cuda.syncthreads()
    total = float32(0)
    for k in range(KERNEL_SIZE):
        total += tile[t + k] * taps[k]
    out[i] = total
