"""MUST GET: out-of-bounds, line 15.

The guard looks at the number in the block, which is nearly always below the length, and not at the
element.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    if tid < out.shape[0]:
        out[i] = a[i] + b[i]
