"""MUST GET: unwritten, cause whole-blocks-only. Asks for the end of the block."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if (cuda.blockIdx.x + 1) * cuda.blockDim.x <= out.size:
        out[i] = a[i] + b[i]
