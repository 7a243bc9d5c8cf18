"""MUST GET: stub, line 7, cause kernel. The class is filled in, and the kernel is not."""

from wia_lab import cuda
from wia_lab import hal as wia


@cuda.jit
def own_matmul(a, b, c):
    # YOUR CODE HERE
    raise NotImplementedError


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
        launch = wia.LaunchConfig(global_size=(columns, rows), local_size=(16, 16))
        wia.launch_kernel(wia.compile_kernel(own_matmul), launch, a, b, c)
        return c
