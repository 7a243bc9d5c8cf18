"""MUST PASS. Asks by trying; zeroes first, and adds; compiles once."""

from wia_lab import cuda
from wia_lab import hal as wia


@cuda.jit
def own_matmul(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        for k in range(a.shape[1]):
            c[row, column] += a[row, k] * b[k, column]


class ThreeLevels:
    def __init__(self):
        self.kernel = wia.compile_kernel(own_matmul)

    def simple(self, a, b):
        return wia.matmul(a, b)

    def configured(self, a, b):
        try:
            return self.by(wia.MatmulAlgorithm.PIPELINE, a, b)
        except wia.InvalidValue:
            return self.by(wia.MatmulAlgorithm.DOUBLE_BUFFERED, a, b)

    def by(self, algorithm, a, b):
        config = wia.MatmulConfig(algorithm=algorithm, precision=wia.Precision.MIXED)
        return wia.matmul(a, b, config=config)

    def own(self, a, b):
        rows, columns = a.shape[0], b.shape[1]
        c = wia.zeros(a.context, (rows, columns))
        launch = wia.LaunchConfig(global_size=(columns, rows), local_size=(16, 16))
        wia.launch_kernel(self.kernel, launch, a, b, c)
        return c
