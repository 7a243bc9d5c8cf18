"""MUST GET: gate, cause bytes loaded.

Each thread copies a whole column, so the 16 threads of a block that share the column all copy it
again.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    col = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    if col < out.shape[1]:
        for r in range(out.shape[0]):
            out[r, col] = a[r, col]
