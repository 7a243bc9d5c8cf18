"""MUST GET: wrong-value, line 25, cause tile-edge-repeated. Clamps to the tile."""

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
            j = min(max(t + k - HALO_SIZE, 0), CONV_TILE_SIZE - 1)
            total += tile[j] * taps[k]
        out[i] = total
