"""MUST GET: race, line 11. All terms of an element are added at once."""

from wia_lab import cuda
from wia_lab import hal as wia


@cuda.jit
def own_matmul(a, b, c):
    column, row, k = cuda.grid(3)
    if row < c.shape[0] and column < c.shape[1] and k < a.shape[1]:
        c[row, column] += a[row, k] * b[k, column]


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
        c = wia.zeros(a.context, (rows, columns))
        size = columns, rows, a.shape[1]
        launch = wia.LaunchConfig(global_size=size, local_size=(8, 8, 4))
        wia.launch_kernel(wia.compile_kernel(own_matmul), launch, a, b, c)
        return c
