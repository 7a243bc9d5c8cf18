"""MUST GET: unwritten, cause bits-in-a-comparison. Joins two questions with &."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < a.size & i < b.size:
        out[i] = a[i] + b[i]
