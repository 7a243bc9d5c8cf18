"""MUST GET: unwritten, cause last-missing. Leaves out the last element."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size - 1:
        out[i] = a[i] + b[i]
