"""MUST PASS. Parameters under other names, a helper function, numba's own cuda."""

from numba import cuda, float32

TILE = 16


@cuda.jit(device=True)
def fetch(matrix, row, column):
    if row < matrix.shape[0] and column < matrix.shape[1]:
        return matrix[row, column]
    return float32(0)


@cuda.jit
def tiled_matmul(left, right, product):
    tile_left = cuda.shared.array((TILE, TILE), float32)
    tile_right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, left.shape[1], TILE):
        tile_left[y, x] = fetch(left, row, start + x)
        tile_right[y, x] = fetch(right, start + y, column)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_left[y, k] * tile_right[k, x]
        cuda.syncthreads()
    if row < product.shape[0] and column < product.shape[1]:
        product[row, column] = total
