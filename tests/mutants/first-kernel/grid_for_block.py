"""MUST GET: unwritten, cause block-and-thread-swapped. Swaps block and thread."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.threadIdx.x * cuda.blockDim.x + cuda.blockIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
