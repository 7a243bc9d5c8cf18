"""MUST GET: unwritten, cause block-number-only. All threads of a block do one element."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.blockIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
