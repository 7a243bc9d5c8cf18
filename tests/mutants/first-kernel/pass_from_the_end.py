"""MUST PASS. Thread 0 takes the last element."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = out.size - 1 - cuda.grid(1)
    if i >= 0:
        out[i] = a[i] + b[i]
