"""MUST PASS. Names a barrier that is not needed, and does not call it."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
    cuda.syncthreads
