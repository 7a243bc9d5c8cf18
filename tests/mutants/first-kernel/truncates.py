"""MUST GET: wrong-value, line 10, cause cut-to-whole-numbers. Makes whole numbers of the sums."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = int(a[i] + b[i])
