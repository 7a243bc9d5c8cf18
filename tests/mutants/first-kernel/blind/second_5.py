"""MUST GET: gate, cause global load requests.

Goes on in steps of one block, not the whole grid: later elements are made many times.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    first = cuda.grid(1)
    for i in range(first, out.size, cuda.blockDim.x):
        out[i] = a[i] + b[i]
