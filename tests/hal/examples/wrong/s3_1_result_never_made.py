"""MUST GET: InvalidValue, 'c got NoneType'. §3.1: launches on a result that nobody made."""

import numpy as np

import wia_lab.hal as wia
from wia_lab import cuda


@cuda.jit
def custom_matmul(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = 0
        for k in range(a.shape[1]):
            c[row, column] += a[row, k] * b[k, column]


def run():
    """The grid is the document's: 2,048 threads each way, whatever the size is."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    a = wia.from_numpy(context, np.ones((20, 20), np.float32))
    launch = wia.LaunchConfig(grid=(128, 128, 1), block=(16, 16, 1), shared_memory=49152)
    wia.launch_kernel(wia.compile_kernel(custom_matmul), launch, a, a, None)
