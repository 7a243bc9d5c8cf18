"""MUST GET: out-of-bounds, line 14.

The guard lets in i equal to the length, one past the last element.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    n = len(out)
    idx = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if idx <= n:
        out[idx] = a[idx] + b[idx]
