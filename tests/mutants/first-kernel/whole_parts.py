"""MUST GET: wrong-value, line 10, cause cut-to-whole. Makes an int of each number."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < out.size:
        out[i] = int(a[i]) + int(b[i])
