"""MUST GET: out-of-bounds, line 10. Thread 0 takes element 1."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1) + 1
    if i <= out.size:
        out[i] = a[i] + b[i]
