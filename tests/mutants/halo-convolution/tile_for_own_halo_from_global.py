"""MUST GET: gate, cause sectors of the signal read. Neighbours from global."""

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
    i = cuda.grid(1)
    tile[t + HALO_SIZE] = signal[i] if i < signal.size else float32(0)
    cuda.syncthreads()
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            j = i + k - HALO_SIZE
            if k == 2:
                total += tile[t + k] * taps[k]
            elif j >= 0 and j < signal.size:
                total += signal[j] * taps[k]
        out[i] = total
