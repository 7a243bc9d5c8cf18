"""MUST GET: wrong-value, line 33, cause taps-reversed.

The taps are used from the last to the first, as textbooks turn the kernel round.
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
        else:
            tile[j] = 0
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[t + k] * taps[KERNEL_SIZE - 1 - k]
        out[i] = total
