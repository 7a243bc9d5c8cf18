"""MUST GET: wrong-value, line 27, cause index-without-counter. Reads one sample for all taps."""

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
        tile[j] = signal[i] if i >= 0 and i < signal.size else float32(0)
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[t] * taps[k]
        out[i] = total
