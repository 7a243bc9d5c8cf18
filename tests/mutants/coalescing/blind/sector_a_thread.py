"""MUST GET: gate, cause global load sectors.

Each thread copies a whole sector of eight neighbours, so lanes of one request stand 32 bytes
apart.
"""

from wia_lab import cuda


@cuda.jit
def strided_copy(out, a):
    x, row = cuda.grid(2)
    first = x * 8
    if row < out.shape[0]:
        for k in range(8):
            if first + k < out.shape[1]:
                out[row, first + k] = a[row, first + k]
