"""MUST GET: out-of-bounds, line 10, cause guard-by-another-length. Asks what is always so."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < cuda.blockDim.x * cuda.gridDim.x:
        out[i] = a[i] + b[i]
