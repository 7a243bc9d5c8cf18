"""MUST GET: unwritten, cause first-block-only. threadIdx.x begins again in each block."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
