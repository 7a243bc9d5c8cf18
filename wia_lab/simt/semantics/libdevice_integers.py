"""Integer functions of `cuda.libdevice`: means, products' upper halves, 24-bit products, sad.

Operands are int32 or int64; functions whose names begin with `u` read them as unsigned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt.semantics.bits import unsigned
from wia_lab.simt.semantics.dtypes import INT32, INT64, UINT32, UINT64
from wia_lab.simt.semantics.table import Builder, Compute, Plan, Typed, implements, select

if TYPE_CHECKING:
    from wia_lab.simt.semantics.casts import Lanes


def _seen_as(dtype: np.dtype[Any], compute: Compute) -> Builder:
    """Return a builder that reads integers' bits as `dtype` and gives the result's bits back."""

    def build(typed: Typed) -> Plan:
        result = typed.result

        def run(*lanes: Lanes) -> Lanes:
            return compute(*(x.view(dtype) for x in lanes)).view(result)

        return Plan(run, typed.args)

    return build


def _mean(up: int) -> Compute:
    """Return the mean of two 32-bit integers, rounded down, or up."""
    return lambda x, y: ((x.astype(INT64) + y.astype(INT64) + up) >> 1).astype(x.dtype)


def _high_product(dtype: np.dtype[Any]) -> Compute:
    """Return the upper half of the product of two integers of `dtype`."""
    if dtype.itemsize < INT64.itemsize:
        wide = INT64 if dtype.kind == "i" else UINT64
        return lambda x, y: ((x.astype(wide) * y.astype(wide)) >> wide.type(32)).astype(dtype)
    return _high_product64 if dtype.kind == "u" else _signed_high_product64


def _high_product64(x: Lanes, y: Lanes) -> Lanes:
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x_high, x_low, y_high, y_low = x >> half, x & low, y >> half, y & low
    middle = x_high * y_low + ((x_low * y_low) >> half)
    return x_high * y_high + (middle >> half) + ((x_low * y_high + (middle & low)) >> half)


def _signed_high_product64(x: Lanes, y: Lanes) -> Lanes:
    high = _high_product64(unsigned(x), unsigned(y)).view(INT64)
    zero = np.int64(0)
    return high - select(x < 0, y, zero) - select(y < 0, x, zero)


def _low24(dtype: np.dtype[Any]) -> Compute:
    """Return the low half of the product of the operands' low 24 bits, signed or not."""
    eight = dtype.type(8)
    return lambda x, y: ((x << eight) >> eight) * ((y << eight) >> eight)


def _sum_of_difference(x: Lanes, y: Lanes, z: Lanes) -> Lanes:
    size = np.abs(x.astype(INT64) - y.astype(INT64))
    return (size + z.astype(INT64)).astype(x.dtype)


_INTEGER: dict[str, tuple[np.dtype[Any], Compute]] = {
    "abs": (INT32, np.absolute),
    "llabs": (INT64, np.absolute),
    "max": (INT32, np.maximum),
    "min": (INT32, np.minimum),
    "umax": (UINT32, np.maximum),
    "umin": (UINT32, np.minimum),
    "llmax": (INT64, np.maximum),
    "llmin": (INT64, np.minimum),
    "ullmax": (UINT64, np.maximum),
    "ullmin": (UINT64, np.minimum),
    "hadd": (INT32, _mean(0)),
    "rhadd": (INT32, _mean(1)),
    "uhadd": (UINT32, _mean(0)),
    "urhadd": (UINT32, _mean(1)),
    "mul24": (INT32, _low24(INT32)),
    "umul24": (UINT32, _low24(UINT32)),
    "mulhi": (INT32, _high_product(INT32)),
    "umulhi": (UINT32, _high_product(UINT32)),
    "mul64hi": (INT64, _high_product(INT64)),
    "umul64hi": (UINT64, _high_product(UINT64)),
    "sad": (INT32, _sum_of_difference),
    "usad": (UINT32, _sum_of_difference),
}
for _name, (_dtype, _compute) in _INTEGER.items():
    implements(f"libdevice.{_name}")(_seen_as(_dtype, _compute))
