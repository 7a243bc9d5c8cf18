"""MUST GET: unwritten, cause other-block-size. Takes the block size of another notebook."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x * 128 + cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
