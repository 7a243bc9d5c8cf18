"""MUST GET: typing, line 10. Adds arrays, as NumPy would."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[:] = a + b
