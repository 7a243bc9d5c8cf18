"""The NumPy dtypes that carry Numba's types, one value a lane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import errors

BOOL = np.dtype(np.bool_)
INT8, INT16, INT32, INT64 = (np.dtype(f"int{width}") for width in (8, 16, 32, 64))
UINT8, UINT16, UINT32, UINT64 = (np.dtype(f"uint{width}") for width in (8, 16, 32, 64))
FLOAT16, FLOAT32, FLOAT64 = (np.dtype(f"float{width}") for width in (16, 32, 64))
COMPLEX64, COMPLEX128 = np.dtype(np.complex64), np.dtype(np.complex128)

NUMBERS = {
    str(dtype): dtype
    for dtype in (
        *(BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64),
        *(FLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128),
    )
}
"""Dtype of each number type, by the name that Numba and NumPy share."""


def is_number(numba_type: Any) -> bool:
    """Whether values of the type are numbers or booleans: one scalar a lane."""
    return _plain(numba_type).name in NUMBERS


def dtype_of(numba_type: Any) -> np.dtype[Any]:
    """Dtype of a lane's value of `numba_type`: a number, a boolean, a literal of one, or a record.

    Raises
    ------
    numba.core.errors.UnsupportedError
        The type is not carried by one array: tuples, arrays, functions, `None`.
    """
    plain = _plain(numba_type)
    if plain.name in NUMBERS:
        return NUMBERS[plain.name]
    if hasattr(plain, "fields"):
        from numba.np.numpy_support import as_dtype

        return as_dtype(plain)
    raise errors.UnsupportedError(
        f"a value of type {numba_type} is not a number, a boolean or a record: "
        "arithmetic needs one of those"
    )


def real_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Dtype of the parts of a complex number."""
    return FLOAT32 if dtype == COMPLEX64 else FLOAT64


def _plain(numba_type: Any) -> Any:
    """`numba_type` without its literal value or its enumeration."""
    literal = getattr(numba_type, "literal_type", None)
    if literal is not None:
        return literal
    if type(numba_type).__name__ in {"EnumMember", "IntEnumMember"}:
        return numba_type.dtype
    return numba_type
