"""MUST PASS. Threads without an element return."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i >= out.size:
        return
    x, y = a[i], b[i]
    out[i] = y + x
