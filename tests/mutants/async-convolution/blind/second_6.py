"""MUST GET: gate, cause tap fetches while the tile is in flight.

Fetches the taps before the copy is issued, so nothing is in flight meanwhile.
"""

from numba import float32

from wia_lab import cuda

CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2
BUFFER_SIZE = CONV_TILE_SIZE + 2 * HALO_SIZE


@cuda.jit
def async_convolution(out, signal, taps):
    tile = cuda.shared.array(BUFFER_SIZE, float32)
    weights = cuda.shared.array(KERNEL_SIZE, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * CONV_TILE_SIZE
    if t < KERNEL_SIZE:
        weights[t] = taps[t]
    cuda.copy_dram_to_sram_async(tile, signal, start - HALO_SIZE, BUFFER_SIZE)
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[t + k] * weights[k]
        out[i] = total
