"""MUST GET: async-copy, line 33. The last turn, which copies nothing, waits for nothing either."""

from numba import float32

from wia_lab import cuda

TILES_PER_BLOCK = 4
CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2
BUFFER_SIZE = CONV_TILE_SIZE + 2 * HALO_SIZE


@cuda.jit
def pipeline_convolution(out, signal, taps):
    tiles = cuda.shared.array((2, BUFFER_SIZE), float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * TILES_PER_BLOCK * CONV_TILE_SIZE
    cuda.copy_dram_to_sram_async(tiles[0], signal, first - HALO_SIZE, BUFFER_SIZE)
    cuda.cp_async_commit_group()
    for n in range(TILES_PER_BLOCK):
        start = first + n * CONV_TILE_SIZE
        if n + 1 < TILES_PER_BLOCK:
            ahead = start + CONV_TILE_SIZE - HALO_SIZE
            cuda.copy_dram_to_sram_async(tiles[(n + 1) % 2], signal, ahead, BUFFER_SIZE)
            cuda.cp_async_commit_group()
            cuda.cp_async_wait_group(1)
        cuda.syncthreads()
        i = start + t
        if i < out.size:
            total = float32(0)
            for k in range(KERNEL_SIZE):
                total += tiles[n % 2, t + k] * taps[k]
            out[i] = total
        cuda.syncthreads()
