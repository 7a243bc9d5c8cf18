"""MUST GET: input-changed. Adds 1 to the input as well."""

from wia_lab import cuda


@cuda.jit
def add_one(out, a):
    i = cuda.grid(1)
    if i < out.size:
        a[i] += 1
        out[i] = a[i]
