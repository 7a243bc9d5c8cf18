"""MUST GET: wrong-value, line 10, cause first-element-for-all. Takes b[0] everywhere."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[0]
