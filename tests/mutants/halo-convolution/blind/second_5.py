"""MUST GET: wrong-value, line 30, cause edge-repeated.

Outside the signal the edge sample is repeated (index clamped), where it should be 0.
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
        i = min(max(start - HALO_SIZE + j, 0), signal.size - 1)
        tile[j] = signal[i]
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[t + k] * taps[k]
        out[i] = total
