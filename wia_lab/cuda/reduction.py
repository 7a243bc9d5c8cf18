"""`cuda.reduce` on the simulator: an ordinary kernel that learners may read.

Each block strides over the input, then halves its partial results in shared memory; a second
launch does the same to the blocks' results.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from wia_lab.cuda.arrays import DeviceNDArray
from wia_lab.cuda.host import device_array
from wia_lab.cuda.kernel import Kernel, jit

BLOCK = 128  # threads
MAX_BLOCKS = 64


class Reduce:
    """Reduces a 1-D array by a binary function, which must be associative and commutative.

    Used as a decorator: ``@cuda.reduce`` above ``def total(a, b): return a + b``.
    """

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        self._functor = functor
        functools.update_wrapper(self, functor)

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """Reduce the first `size` elements of `arr`, all by default, and `init` with them.

        Returns the result, or None when `res` is given: then the result is put in ``res[0]``, on
        the device.
        """
        if arr.ndim != 1:
            raise TypeError(
                f"cuda.reduce takes a 1-D array, this one has {arr.ndim} dimensions: use ravel()"
            )
        values = arr if size is None else arr[:size]
        start = values.dtype.type(init)
        if values.size == 0:
            return start
        kernel = _kernel(self._functor, values.dtype)
        blocks = min(-(-values.size // BLOCK), MAX_BLOCKS)
        partials = device_array(blocks, values.dtype)
        result = device_array(1, values.dtype)
        kernel[blocks, BLOCK, stream](values, partials, start, blocks == 1)
        last = partials
        if blocks > 1:
            kernel[1, BLOCK, stream](partials, result, start, True)
            last = result
        if res is None:
            return last[0]
        target = res if isinstance(res, DeviceNDArray) else np.asarray(res)
        target[:1] = last.copy_to_host() if isinstance(target, np.ndarray) else last
        return None


reduce = Reduce


@functools.cache
def _kernel(functor: Callable[[Any, Any], Any], dtype: np.dtype) -> Kernel:
    cuda: Any = sys.modules["wia_lab.cuda"]
    combine = jit(functor, device=True)
    kind = numba.from_dtype(dtype)

    def block_reduction(values, partials, init, use_init):  # type: ignore[no-untyped-def]
        tile = cuda.shared.array(BLOCK, kind)
        thread = cuda.threadIdx.x
        first = cuda.blockIdx.x * BLOCK
        if first + thread < values.size:
            mine = values[first + thread]
            for i in range(
                first + thread + cuda.gridDim.x * BLOCK, values.size, cuda.gridDim.x * BLOCK
            ):
                mine = combine(mine, values[i])
            tile[thread] = mine
        live = values.size - first
        cuda.syncthreads()
        half = BLOCK // 2
        while half > 0:
            if thread < half and thread + half < live:
                tile[thread] = combine(tile[thread], tile[thread + half])
            cuda.syncthreads()
            half //= 2
        if thread == 0:
            if use_init:
                partials[cuda.blockIdx.x] = combine(tile[0], init)
            else:
                partials[cuda.blockIdx.x] = tile[0]

    kernel: Kernel = jit(block_reduction)
    return kernel
