"""MUST PASS. Every thread keeps the five taps itself, fetched while the tile is in flight."""

from numba import float32

from wia_lab import cuda

CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2
BUFFER_SIZE = CONV_TILE_SIZE + 2 * HALO_SIZE


@cuda.jit
def async_convolution(out, signal, taps):
    tile = cuda.shared.array(BUFFER_SIZE, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    cuda.copy_dram_to_sram_async(tile, signal, i - t - HALO_SIZE, BUFFER_SIZE)
    w0, w1, w2, w3, w4 = taps[0], taps[1], taps[2], taps[3], taps[4]
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    if i < out.size:
        out[i] = (
            tile[t] * w0 + tile[t + 1] * w1 + tile[t + 2] * w2 + tile[t + 3] * w3 + tile[t + 4] * w4
        )
