"""MUST GET: unwritten, cause nothing-stored.

The early return is turned round: threads that have an element leave, those without one work.
"""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.shape[0]:
        return
    out[i] = a[i] + b[i]
