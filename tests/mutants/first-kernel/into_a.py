"""MUST GET: unwritten. Adds b to a and leaves out alone."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += b[i]
