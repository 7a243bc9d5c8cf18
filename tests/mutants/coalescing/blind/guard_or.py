"""MUST GET: out-of-bounds, line 13.

The guard joins its two conditions by or, so a thread outside in one direction still works.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    x, y = cuda.grid(2)
    if y < a.shape[0] or x < a.shape[1]:
        out[y, x] = a[y, x]
