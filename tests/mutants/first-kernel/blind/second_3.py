"""MUST GET: unwritten, cause last-missing.

The guard stops one too early, so the last element gets no sum.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < len(out) - 1:
        out[i] = a[i] + b[i]
