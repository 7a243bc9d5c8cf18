"""MUST GET: unwritten, cause whole-blocks-only.

Lets only whole blocks work (length // 256, rounded down): the rest is left out.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    blocks = out.shape[0] // cuda.blockDim.x
    if cuda.blockIdx.x < blocks:
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        out[i] = a[i] + b[i]
