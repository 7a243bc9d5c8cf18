"""Conversions between number types, as PTX's `cvt` makes them for numba-cuda.

Integers wrap. Integers become floats, and floats narrower floats, rounded to nearest even. A float
becomes an integer by truncation and saturates (`cvt.rzi`); 8-bit integers are made from a 16-bit
one, which saturated before, by wrapping. A float16 is rounded to nearest even instead
(`cvt.rni`: numba-cuda calls `__half2int_rn` and its kin) and saturates at 8 bits too. NaN becomes
zero, but the lowest signed bit pattern (only the top bit set) from float64, and at 64 bits.
The widths and roundings were read in the PTX that numba-cuda 0.30.4 makes for each pair.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from wia_lab.simt.semantics.dtypes import (
    BOOL,
    FLOAT16,
    FLOAT64,
    INT16,
    UINT16,
    dtype_of,
)

Lanes = Any
"""One value a lane (an array), or a NumPy scalar that all lanes share."""

Cast = Callable[[Lanes], Lanes]


def cast(from_type: Any, to_type: Any) -> Cast:
    """Return Numba's conversion between two number types, for lanes of `from_type`'s dtype."""
    return between(dtype_of(from_type), dtype_of(to_type))


def convert(lanes: Lanes, to: np.dtype[Any]) -> Lanes:
    """Lanes of any number type, converted to dtype `to`."""
    return between(lanes.dtype, to)(lanes)


@cache
def between(source: np.dtype[Any], target: np.dtype[Any]) -> Cast:
    """Return the conversion from one dtype to another."""
    if source == target:
        return unchanged
    if target == BOOL:
        return lambda lanes: lanes != 0
    if source.kind == "f" and target.kind in "iu":
        return _half_to_integer(target) if source == FLOAT16 else _truncation(source, target)
    if source.kind == "c" and target.kind != "c":
        return _real_part(target)
    return lambda lanes: lanes.astype(target)


def unchanged(lanes: Lanes) -> Lanes:
    """Return the lanes themselves."""
    return lanes


def saturate(lanes: Lanes, target: np.dtype[Any], if_nan: int = 0) -> Lanes:
    """Floats as integers of `target`: truncated, clamped to its range; NaN gives `if_nan`."""
    limits = np.iinfo(target)
    # The first value too large, 2**(bits - sign), is exact in every float type that can reach it.
    lowest, beyond = float(limits.min), float(limits.max + 1)
    if lanes.dtype == FLOAT16:
        lanes = lanes.astype(np.float32)
    if lanes.min() >= lowest and lanes.max() < beyond:  # never with a nan
        return lanes.astype(target)
    lanes = np.trunc(lanes)
    inside = (lanes >= lowest) & (lanes < beyond)
    outside = np.where(lanes < lowest, target.type(limits.min), target.type(limits.max))
    outside = np.where(np.isnan(lanes), target.type(if_nan), outside)
    return np.where(inside, np.where(inside, lanes, 0).astype(target), outside)[()]


def _truncation(source: np.dtype[Any], target: np.dtype[Any]) -> Cast:
    """float32 or float64 to an integer."""
    via = target
    if target.itemsize == 1:
        via = INT16 if target.kind == "i" else UINT16
    wide = source == FLOAT64 or via.itemsize == 8
    if_nan = _top_bit(via) if wide else 0

    def truncate(lanes: Lanes) -> Lanes:
        whole = saturate(lanes, via, if_nan)
        return whole if via is target else whole.astype(target)

    return truncate


def _half_to_integer(target: np.dtype[Any]) -> Cast:
    if_nan = _top_bit(target) if target.itemsize == 8 else 0
    return lambda lanes: saturate(np.rint(lanes), target, if_nan)


def _top_bit(dtype: np.dtype[Any]) -> int:
    """Return the integer whose only set bit is the highest."""
    limits = np.iinfo(dtype)
    return limits.min or (limits.max + 1) // 2


def _real_part(target: np.dtype[Any]) -> Cast:
    return lambda lanes: convert(lanes.real, target)
