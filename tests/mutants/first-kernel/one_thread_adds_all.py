"""MUST GET: gate, cause global load requests. One thread does the work of all."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    if cuda.grid(1) == 0:
        for i in range(out.size):
            out[i] = a[i] + b[i]
