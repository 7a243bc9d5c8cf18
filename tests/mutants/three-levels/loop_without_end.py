"""MUST GET: no-progress, line 15, cause kernel. The loop of the kernel counts nothing."""

from numba import float32

from wia_lab import cuda
from wia_lab import hal as wia


@cuda.jit
def own_matmul(a, b, c):
    row, column = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = float32(0)
        k = 0
        while k < a.shape[1]:
            total += a[row, k] * b[k, column]
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
        launch = wia.LaunchConfig(global_size=(rows, columns), local_size=(8, 32))
        wia.launch_kernel(wia.compile_kernel(own_matmul), launch, a, b, c)
        return c
