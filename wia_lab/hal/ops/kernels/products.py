"""Products of stacks of matrices for every type; float32 has `wia_lab.kernels.matmul` besides."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numba

from wia_lab import cuda

if TYPE_CHECKING:
    import numpy as np

TILE = 16


@functools.cache
def naive(sums: np.dtype[Any]) -> Any:
    """One output a thread, summed in `sums`; a is (stack, m, k), b (stack, k, n).

    Launch: any number of threads in one dimension.
    """
    kind = numba.from_dtype(sums)

    @cuda.jit
    def product(out, a, b, m, n, depth):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            x, y, z = i % n, i // n % m, i // n // m
            total = kind(0)
            for k in range(depth):
                total += kind(a[(z * m + y) * depth + k]) * kind(b[(z * depth + k) * n + x])
            out[i] = total

    return product


@functools.cache
def tiled(sums: np.dtype[Any]) -> Any:
    """The same; tiles of 16×16 of both factors are shared by the block.

    Launch: blocks of 16×16 threads over n and m, and any number along z for the stack.
    """
    kind = numba.from_dtype(sums)

    @cuda.jit
    def product(out, a, b, m, n, depth):
        ta = cuda.shared.array((TILE, TILE), kind)
        tb = cuda.shared.array((TILE, TILE), kind)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        x, y = cuda.grid(2)
        stack = out.size // (m * n)
        for z in range(cuda.blockIdx.z, stack, cuda.gridDim.z):
            total = kind(0)
            for first in range(0, depth, TILE):
                ta[ty, tx] = kind(0)
                tb[ty, tx] = kind(0)
                if y < m and first + tx < depth:
                    ta[ty, tx] = kind(a[(z * m + y) * depth + first + tx])
                if x < n and first + ty < depth:
                    tb[ty, tx] = kind(b[(z * depth + first + ty) * n + x])
                cuda.syncthreads()
                for k in range(TILE):
                    total += ta[ty, k] * tb[k, tx]
                cuda.syncthreads()
            if y < m and x < n:
                out[(z * m + y) * n + x] = total

    return product
