"""MUST GET: refused, line 28, cause configured-sums. Sums in float16, widened afterwards."""

from numba import float32

from wia_lab import cuda
from wia_lab import hal as wia


@cuda.jit
def own_matmul(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


class ThreeLevels:
    def simple(self, a, b):
        return wia.matmul(a, b)

    def configured(self, a, b):
        newer = a.context.device.info.compute_capability >= (8, 0)
        algorithm = wia.MatmulAlgorithm.PIPELINE if newer else wia.MatmulAlgorithm.DOUBLE_BUFFERED
        config = wia.MatmulConfig(algorithm=algorithm, precision=wia.Precision.REDUCED)
        a, b = (wia.convert(each, "float16") for each in (a, b))
        return wia.convert(wia.matmul(a, b, config=config), "float32")

    def own(self, a, b):
        rows, columns = a.shape[0], b.shape[1]
        c = wia.empty(a.context, (rows, columns))
        launch = wia.LaunchConfig(global_size=(columns, rows), local_size=(16, 16))
        wia.launch_kernel(wia.compile_kernel(own_matmul), launch, a, b, c)
        return c
