"""MUST PASS. Counts the thread's number itself."""

from wia_lab import cuda


@cuda.jit
def square(out, a):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] * a[i]
