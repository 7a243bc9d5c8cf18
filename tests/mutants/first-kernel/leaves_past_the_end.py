"""MUST GET: out-of-bounds, line 14, cause guard-includes-the-length. One thread too few leaves.

The condition is the one for whom to send away, so the message quotes it as such.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    me = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    if me > len(out):
        return
    out[me] = a[me] + b[me]
