"""MUST GET: wrong-value, line 24, cause tile-wrapped-around. Goes round in the tile."""

from numba import float32

from wia_lab import cuda

CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2
BUFFER_SIZE = CONV_TILE_SIZE + 2 * HALO_SIZE


@cuda.jit
def halo_convolution(out, signal, taps):
    tile = cuda.shared.array(CONV_TILE_SIZE, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = signal[i] if i < signal.size else float32(0)
    cuda.syncthreads()
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[(t + k - HALO_SIZE) % CONV_TILE_SIZE] * taps[k]
        out[i] = total
