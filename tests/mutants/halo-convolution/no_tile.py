"""MUST GET: gate, cause sectors of the signal read. Each thread fetches its five samples itself."""

from numba import float32

from wia_lab import cuda

CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2
BUFFER_SIZE = CONV_TILE_SIZE + 2 * HALO_SIZE


@cuda.jit
def halo_convolution(out, signal, taps):
    i = cuda.grid(1)
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            j = i + k - HALO_SIZE
            if j >= 0 and j < signal.size:
                total += signal[j] * taps[k]
        out[i] = total
