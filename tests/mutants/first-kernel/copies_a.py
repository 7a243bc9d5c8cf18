"""MUST GET: wrong-value, line 10, cause copied-a. Forgets b."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
