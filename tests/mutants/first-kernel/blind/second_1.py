"""MUST GET: unwritten, cause block-not-scaled.

The block's number is added as it is, without the 256 threads that each block has.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x + cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
