"""MUST GET: gate, cause global load requests.

Each thread loops over all 256 elements of its block instead of taking one.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    start = cuda.blockIdx.x * cuda.blockDim.x
    for i in range(start, start + cuda.blockDim.x):
        if i < out.shape[0]:
            out[i] = a[i] + b[i]
