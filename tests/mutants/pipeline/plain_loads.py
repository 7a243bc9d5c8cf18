"""MUST GET: gate, cause samples copied asynchronously. Fills the tiles by assignment."""

from numba import float32

from wia_lab import cuda

CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2
BUFFER_SIZE = CONV_TILE_SIZE + 2 * HALO_SIZE
TILES_PER_BLOCK = 4


@cuda.jit
def pipeline_convolution(out, signal, taps):
    tiles = cuda.shared.array((2, BUFFER_SIZE), float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * TILES_PER_BLOCK * CONV_TILE_SIZE
    for n in range(TILES_PER_BLOCK):
        start = first + n * CONV_TILE_SIZE
        for j in range(t, BUFFER_SIZE, CONV_TILE_SIZE):
            i = start - HALO_SIZE + j
            tiles[n % 2, j] = signal[i] if i >= 0 and i < signal.size else float32(0)
        cuda.syncthreads()
        i = start + t
        if i < out.size:
            total = float32(0)
            for k in range(KERNEL_SIZE):
                total += tiles[n % 2, t + k] * taps[k]
            out[i] = total
        cuda.syncthreads()
