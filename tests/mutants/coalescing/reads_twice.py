"""MUST GET: gate, cause bytes loaded. Reads each element twice."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = max(a[row, column], a[row, column])
