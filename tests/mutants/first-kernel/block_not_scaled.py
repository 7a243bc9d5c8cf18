"""MUST GET: unwritten, cause block-not-scaled. Adds the numbers of block and thread."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x + cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
