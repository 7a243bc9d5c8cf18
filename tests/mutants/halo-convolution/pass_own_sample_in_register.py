"""MUST PASS. The middle tap takes the thread's own sample from its register; taps are unrolled."""

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
    own = signal[i] if i < signal.size else float32(0)
    tile[t + HALO_SIZE] = own
    if t < HALO_SIZE:
        left = start - HALO_SIZE + t
        tile[t] = signal[left] if left >= 0 else float32(0)
    if t < HALO_SIZE:
        right = start + CONV_TILE_SIZE + t
        tile[CONV_TILE_SIZE + HALO_SIZE + t] = signal[right] if right < signal.size else float32(0)
    cuda.syncthreads()
    if i < out.size:
        out[i] = (
            tile[t] * taps[0]
            + tile[t + 1] * taps[1]
            + own * taps[2]
            + tile[t + 3] * taps[3]
            + tile[t + 4] * taps[4]
        )
