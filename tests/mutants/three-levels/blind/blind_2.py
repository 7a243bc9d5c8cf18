"""MUST GET: wrong-type, cause float16.

Converts the inputs to float16 itself, so the result is float16 too, not float32.
"""

import numpy as np
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
        half_a = wia.convert(a, np.float16)
        half_b = wia.convert(b, np.float16)
        return wia.matmul(half_a, half_b, config=wia.MatmulConfig(algorithm=algorithm))

    def own(self, a, b):
        c = wia.empty(a.context, (a.shape[0], b.shape[1]))
        launch = wia.LaunchConfig(global_size=(b.shape[1], a.shape[0]), local_size=(16, 16))
        wia.launch_kernel(wia.compile_kernel(own_matmul), launch, a, b, c)
        return c
