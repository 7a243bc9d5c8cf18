"""MUST GET: unwritten, cause rows-counted-by-threads. One element a thread."""

from wia_lab import cuda


@cuda.jit
def transpose(out, a):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[column, row]
