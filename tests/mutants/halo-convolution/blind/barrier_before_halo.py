"""MUST GET: race, line 32.

The barrier stands between the tile's own samples and the halo, so the halo is read without a wait.
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
    me = start + t
    tile[HALO_SIZE + t] = signal[me] if me < signal.size else float32(0)
    cuda.syncthreads()
    if t < HALO_SIZE:
        before = me - HALO_SIZE
        after = me + CONV_TILE_SIZE
        tile[t] = signal[before] if before >= 0 else float32(0)
        tile[HALO_SIZE + CONV_TILE_SIZE + t] = signal[after] if after < signal.size else float32(0)
    if me < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[t + k] * taps[k]
        out[me] = total
