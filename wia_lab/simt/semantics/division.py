"""Floor division and modulo with Python's signs, as Numba compiles them for the device.

Integers: by zero both are zero (the device raises only when it compiles with debug), and so are
they for the lowest integer by -1. Floats: the remainder of magnitudes is |x| - floor(|x| / |y|)
* |y|, as the PTX of `frem` has it, product and difference fused; CPython's corrections of sign
follow. So it is not exact where the quotient has more bits than the type, and x % inf is nan.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt.semantics.dtypes import FLOAT64
from wia_lab.simt.semantics.exact import fma64, two_product
from wia_lab.simt.semantics.table import Compute, Plan, Typed, implements, select

if TYPE_CHECKING:
    from wia_lab.simt.semantics.casts import Lanes


_SPLITTABLE = 2.0**990
"""Factors below it can be split in halves without overflow."""


@implements(operator.floordiv, operator.ifloordiv)
def floor_division(typed: Typed) -> Plan:
    """x // y."""
    return Plan(floor_divide(typed.result), (typed.result,) * 2)


@implements(operator.mod, operator.imod)
def modulo(typed: Typed) -> Plan:
    """x % y."""
    return Plan(remainder(typed.result), (typed.result,) * 2)


@implements(divmod)
def quotient_and_remainder(typed: Typed) -> Plan:
    """`divmod(x, y)`: a pair."""
    dtype = typed.result[0]
    quotient, rest = floor_divide(dtype), remainder(dtype)
    return Plan(lambda x, y: (quotient(x, y), rest(x, y)), (dtype,) * 2)


def floor_divide(dtype: np.dtype[Any]) -> Compute:
    """Return x // y of operands of `dtype`."""
    if dtype.kind == "f":
        return _float_floor_divide
    return _floor_divide_signed(dtype) if dtype.kind == "i" else np.floor_divide


def remainder(dtype: np.dtype[Any]) -> Compute:
    """Return x % y of operands of `dtype`."""
    return _float_remainder if dtype.kind == "f" else np.remainder


def _floor_divide_signed(dtype: np.dtype[Any]) -> Compute:
    lowest = np.iinfo(dtype).min

    def divide(x: Lanes, y: Lanes) -> Lanes:
        quotient = np.floor_divide(x, y)
        overflows = (y == -1) & (x == lowest)
        return select(overflows, dtype.type(0), quotient) if overflows.any() else quotient

    return divide


def _rest_of_magnitudes(x: Lanes, y: Lanes) -> Lanes:
    """x - floor(x / y) * y of non-negative lanes, product and difference rounded together."""
    quotient = np.floor(x / y)
    if x.dtype != FLOAT64:
        # Exact in float64: the product has 48 bits, and the difference is a multiple of the same
        # unit and close to zero.
        wide = x.astype(FLOAT64) - quotient.astype(FLOAT64) * y.astype(FLOAT64)
        return wide.astype(x.dtype)
    if np.isfinite(quotient).all() and quotient.max() < _SPLITTABLE:
        product, error = two_product(quotient, y)
        return (x - product) - error  # the first difference is exact (Sterbenz)
    return fma64(-quotient, y, x)


def _rest(x: Lanes, y: Lanes) -> tuple[Lanes, Lanes]:
    """C's remainder with x's sign, and where a non-zero one has not y's."""
    rest = _rest_of_magnitudes(np.abs(x), np.abs(y)) * np.copysign(x.dtype.type(1), x)
    return rest, (rest != 0) & ((rest < 0) != (y < 0))


def _float_remainder(x: Lanes, y: Lanes) -> Lanes:
    rest, other_sign = _rest(x, y)
    result = rest + y * other_sign  # adds a zero where the signs agree
    zero = rest == 0
    return select(zero, np.copysign(x.dtype.type(0), y), result) if zero.any() else result


def _float_floor_divide(x: Lanes, y: Lanes) -> Lanes:
    rest, other_sign = _rest(x, y)
    ratio = (x - rest) / y - other_sign
    whole = np.floor(ratio)
    whole = whole + (ratio - whole > x.dtype.type(0.5))
    zero, by_zero = ratio == 0, y == 0
    if zero.any():
        whole = select(zero, ratio * ratio * x / y, whole)  # a zero with the quotient's sign
    return select(by_zero, x / y, whole) if by_zero.any() else whole
