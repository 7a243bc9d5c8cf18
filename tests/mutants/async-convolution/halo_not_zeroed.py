"""MUST GET: uninitialised-read, line 34. Copies the halo by hand and puts no zeros outside the signal."""

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
    g = start + t
    if g < signal.size:
        cuda.cp_async(tile, t + HALO_SIZE, signal, g)
    if t < HALO_SIZE and g - HALO_SIZE >= 0:
        cuda.cp_async(tile, t, signal, g - HALO_SIZE)
    if t >= CONV_TILE_SIZE - HALO_SIZE and g + HALO_SIZE < signal.size:
        cuda.cp_async(tile, t + 2 * HALO_SIZE, signal, g + HALO_SIZE)
    if t < KERNEL_SIZE:
        weights[t] = taps[t]
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    i = start + t
    if i < out.size:
        total = float32(0)
        for k in range(KERNEL_SIZE):
            total += tile[t + k] * weights[k]
        out[i] = total
