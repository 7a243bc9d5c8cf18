"""MUST GET: typing, line 10. Asks whether the element is the sum, with ==."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < out.size:
        out[i] == a[i] + b[i]
