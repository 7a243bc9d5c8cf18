"""MUST GET: wrong-value, line 31, cause no-halo. Takes neighbours outside the tile for 0."""

from numba import float32

from wia_lab import cuda

CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2
BUFFER_SIZE = CONV_TILE_SIZE + 2 * HALO_SIZE


@cuda.jit
def async_convolution(out, signal, taps):
    tile = cuda.shared.array(CONV_TILE_SIZE, float32)
    weights = cuda.shared.array(KERNEL_SIZE, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * CONV_TILE_SIZE
    cuda.copy_dram_to_sram_async(tile, signal, start, CONV_TILE_SIZE)
    if t < KERNEL_SIZE:
        weights[t] = taps[t]
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            j = t + k - HALO_SIZE
            if j >= 0 and j < CONV_TILE_SIZE:
                total += tile[j] * weights[k]
        out[i] = total
