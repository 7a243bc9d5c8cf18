"""MUST GET: gate, cause bytes loaded. A thread a column, in blocks of 16 × 16: 16 do the same."""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    column = cuda.grid(1)
    if column < out.shape[1]:
        for row in range(out.shape[0]):
            out[row, column] = a[row, column]
