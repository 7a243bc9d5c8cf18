"""MUST PASS. Tiles in shared memory, and blocks counted by hand."""

from numba import float32

from wia_lab import cuda
from wia_lab import hal as wia

TILE = 16


@cuda.jit
def own_matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        ka, kb = t * TILE + x, t * TILE + y
        tile_a[y, x] = a[row, ka] if row < a.shape[0] and ka < a.shape[1] else float32(0)
        tile_b[y, x] = b[kb, column] if kb < b.shape[0] and column < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


class ThreeLevels:
    def simple(self, a, b):
        return wia.matmul(a, b)

    def configured(self, a, b):
        newer = a.context.device.info.compute_capability >= (8, 0)
        algorithm = wia.MatmulAlgorithm.PIPELINE if newer else wia.MatmulAlgorithm.DOUBLE_BUFFERED
        config = wia.MatmulConfig(algorithm=algorithm, precision=wia.Precision.MIXED)
        return wia.matmul(a, b, config=config)

    def own(self, a, b):
        rows, columns = a.shape[0], b.shape[1]
        c = wia.empty(a.context, (rows, columns))
        grid = -(-columns // TILE), -(-rows // TILE)
        launch = wia.LaunchConfig(grid, (TILE, TILE))
        wia.launch_kernel(wia.compile_kernel(own_matmul), launch, a, b, c)
        return c
