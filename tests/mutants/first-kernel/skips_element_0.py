"""MUST GET: unwritten, cause first-missing. Guards with the wrong end as well."""

from wia_lab import cuda


@cuda.jit
def vector_add(out, a, b):
    i = cuda.grid(1)
    if 0 < i < out.size:
        out[i] = a[i] + b[i]
