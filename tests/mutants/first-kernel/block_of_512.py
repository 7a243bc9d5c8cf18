"""MUST GET: unwritten, cause other-block-size. Counts 512 threads a block, so gaps remain."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x * 512 + cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
