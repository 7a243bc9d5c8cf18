"""MUST GET: gate, cause global load sectors. Right, but every thread fetches a whole row and column."""

from numba import float32

from wia_lab import cuda

TILE = 16


@cuda.jit
def tiled_matmul(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total
