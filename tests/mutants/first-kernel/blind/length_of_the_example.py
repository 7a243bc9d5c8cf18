"""MUST GET: unwritten, cause length-of-the-example.

The guard holds the example's 800 instead of the length of the array.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < 800:
        out[i] = a[i] + b[i]
