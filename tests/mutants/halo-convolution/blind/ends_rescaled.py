"""MUST GET: wrong-value, line 36, cause ends-rescaled.

At the ends the sum is divided by the weights that lie inside, instead of counting samples outside
as 0.
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
    for c in range(t, BUFFER_SIZE, CONV_TILE_SIZE):
        j = start - HALO_SIZE + c
        tile[c] = signal[j] if j >= 0 and j < signal.size else float32(0)
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        weight = float32(0)
        whole = float32(0)
        for k in range(KERNEL_SIZE):
            whole += taps[k]
            if i + k >= HALO_SIZE and i + k - HALO_SIZE < signal.size:
                total += tile[t + k] * taps[k]
                weight += taps[k]
        out[i] = total * whole / weight
