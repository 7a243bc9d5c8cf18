"""MUST GET: unwritten, cause block-and-thread-swapped.

The roles of thread and block are swapped, so thread numbers are counted in steps of 256 and most
elements get no sum.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    t = cuda.threadIdx.x
    bl = cuda.blockIdx.x
    i = t * cuda.blockDim.x + bl
    if i < out.size:
        out[i] = a[i] + b[i]
