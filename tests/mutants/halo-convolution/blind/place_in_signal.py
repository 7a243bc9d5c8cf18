"""MUST GET: out-of-bounds, line 29.

The tile is read at the sample's place in the signal instead of its place in the tile.
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
    for c in range(t, BUFFER_SIZE, CONV_TILE_SIZE):
        j = start - HALO_SIZE + c
        tile[c] = signal[j] if j >= 0 and j < signal.size else float32(0)
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[i + k] * taps[k]
        out[i] = total
