"""MUST GET: unwritten, cause guard-of-another-axis. Compares with shape[0] and shape[1]."""

from numba import float32

from wia_lab import cuda


@cuda.jit
def conv_bn_relu_pool(out, image, weights, scale, shift):
    tile = cuda.shared.array((34, 34), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row, _ = cuda.grid(3)
    y0, x0 = cuda.blockIdx.y * 32 - 1, cuda.blockIdx.x * 32 - 1  # pixel of tile[0, 0]
    for i in range(y, 34, 16):
        for j in range(x, 34, 16):
            inside = 0 <= y0 + i < image.shape[0] and 0 <= x0 + j < image.shape[1]
            tile[i, j] = image[y0 + i, x0 + j] if inside else float32(0)
    cuda.syncthreads()
    if row < out.shape[0] and column < out.shape[1]:
        for f in range(weights.shape[0]):
            best = float32(0)
            for p in range(2):
                for q in range(2):
                    total = float32(0)
                    for u in range(3):
                        for v in range(3):
                            total += tile[2 * y + p + u, 2 * x + q + v] * weights[f, u, v]
                    best = max(best, total * scale[f] + shift[f])
            out[f, row, column] = best
