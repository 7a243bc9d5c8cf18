"""MUST GET: race, line 28.

The right halo is put 256 cells on instead of 258, over the tile's own last two samples.
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
    n = signal.size
    i = start + t
    tile[t + HALO_SIZE] = signal[i] if i < n else float32(0)
    if t < HALO_SIZE:
        left = start - HALO_SIZE + t
        right = start + CONV_TILE_SIZE + t
        tile[t] = signal[left] if left >= 0 else float32(0)
        tile[t + CONV_TILE_SIZE] = signal[right] if right < n else float32(0)
    cuda.syncthreads()
    if i < n:
        s = float32(0)
        for k in range(KERNEL_SIZE):
            s += tile[t + k] * taps[k]
        out[i] = s
