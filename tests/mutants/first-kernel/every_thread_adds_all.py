"""MUST GET: gate, cause global load requests. Each thread writes the whole vector."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    for i in range(out.size):
        out[i] = a[i] + b[i]
