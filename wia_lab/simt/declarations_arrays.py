"""Array functions whose implementation differs between Numba and numba-cuda 0.30: numba-cuda's."""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.core.extending import overload, overload_method
from numba.np.numpy_support import as_dtype

from wia_lab.simt.typing_context import TARGET


@overload(np.mean, target=TARGET)
@overload_method(types.Array, "mean", target=TARGET)
def array_mean(a):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - as the implementation
    """Sum in the array's own type (float64 for integers), divided by an int64: a float64."""
    if not isinstance(a, types.Array):
        return None
    whole = isinstance(a.dtype, types.Integer | types.Boolean)
    zero = np.float64(0) if whole else as_dtype(a.dtype).type(0)

    def mean(a):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        total = zero
        for value in np.nditer(a):
            total += value.item()  # type: ignore[attr-defined]
        return total / a.size

    return mean
