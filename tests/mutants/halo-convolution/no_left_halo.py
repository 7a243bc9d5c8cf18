"""MUST GET: wrong-value, line 31, cause no-left-halo. Puts zeros before every tile."""

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
    tile[t + HALO_SIZE] = signal[i] if i < signal.size else float32(0)
    if t < HALO_SIZE:
        tile[t] = float32(0)
    if t < HALO_SIZE:
        right = start + CONV_TILE_SIZE + t
        tile[CONV_TILE_SIZE + HALO_SIZE + t] = signal[right] if right < signal.size else float32(0)
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[t + k] * taps[k]
        out[i] = total
