"""MUST GET: unwritten, cause other-block-size. Counts 32 threads a block."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
