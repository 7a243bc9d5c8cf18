"""MUST GET: gate, cause bytes of image loaded. Every sum fetches its 9 pixels from global memory."""

from numba import float32

from wia_lab import cuda


@cuda.jit
def conv_bn_relu_pool(out, image, weights, scale, shift):
    column, row, _ = cuda.grid(3)
    if row < out.shape[1] and column < out.shape[2]:
        for f in range(weights.shape[0]):
            best = float32(0)
            for p in range(2):
                for q in range(2):
                    total = float32(0)
                    for u in range(3):
                        for v in range(3):
                            i, j = 2 * row + p + u - 1, 2 * column + q + v - 1
                            if 0 <= i < image.shape[0] and 0 <= j < image.shape[1]:
                                total += image[i, j] * weights[f, u, v]
                    best = max(best, total * scale[f] + shift[f])
            out[f, row, column] = best
