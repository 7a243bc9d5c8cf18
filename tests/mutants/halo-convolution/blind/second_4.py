"""MUST GET: uninitialised-read, line 30, cause left-out-by-a-condition.

Cells whose sample lies outside the signal are left as they are, not set to 0.
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
    for j in range(t, BUFFER_SIZE, CONV_TILE_SIZE):
        i = start - HALO_SIZE + j
        if i >= 0 and i < signal.size:
            tile[j] = signal[i]
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[t + k] * taps[k]
        out[i] = total
