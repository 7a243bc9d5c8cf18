"""MUST GET: uninitialised-read, line 33.

Only thread 255 loads the right halo, where two cells are wanted, so cell 258 is never written.
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
    i = start + t
    tile[t + HALO_SIZE] = signal[i] if i < signal.size else float32(0)
    if t < HALO_SIZE:
        tile[t] = signal[i - HALO_SIZE] if i - HALO_SIZE >= 0 else float32(0)
    if t > CONV_TILE_SIZE - HALO_SIZE:
        tile[t + 2 * HALO_SIZE] = (
            signal[i + HALO_SIZE] if i + HALO_SIZE < signal.size else float32(0)
        )
    cuda.syncthreads()
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[t + k] * taps[k]
        out[i] = total
