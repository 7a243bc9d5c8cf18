"""MUST GET: unwritten, cause first-block-only. threadIdx.x begins again in each block: all write the same cells."""

from wia_lab import cuda


@cuda.jit
def square(out, a):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] * a[i]
