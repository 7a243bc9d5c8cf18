"""MUST GET: unwritten, cause blocks-counted-by-blocks.

Counts with the number of blocks (gridDim) instead of the number of threads in a block.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x
    if i < out.shape[0]:
        out[i] = a[i] + b[i]
