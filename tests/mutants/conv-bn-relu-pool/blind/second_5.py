"""MUST GET: wrong-value, line 32, cause weights-transposed.

Row and column of the weights are swapped, weights[f, v, u].
"""

from numba import float32

from wia_lab import cuda


@cuda.jit
def conv_bn_relu_pool(out, image, weights, scale, shift):
    tile = cuda.shared.array((34, 34), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row, _ = cuda.grid(3)
    y0, x0 = cuda.blockIdx.y * 32 - 1, cuda.blockIdx.x * 32 - 1  # pixel of tile[0, 0]
    for n in range(y * 16 + x, 34 * 34, 256):
        i, j = y0 + n // 34, x0 + n % 34
        inside = 0 <= i < image.shape[0] and 0 <= j < image.shape[1]
        tile[n // 34, n % 34] = image[i, j] if inside else float32(0)
    cuda.syncthreads()
    if row < out.shape[1] and column < out.shape[2]:
        for f in range(weights.shape[0]):
            best = float32(0)
            for p in range(2):
                for q in range(2):
                    total = float32(0)
                    for u in range(3):
                        for v in range(3):
                            total += tile[2 * y + p + u, 2 * x + q + v] * weights[f, v, u]
                    best = max(best, total * scale[f] + shift[f])
            out[f, row, column] = best
