"""MUST GET: wrong-value, line 13, cause added-to-output.

Adds to what out held before (+=) instead of storing the sum.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[i] += a[i] + b[i]
