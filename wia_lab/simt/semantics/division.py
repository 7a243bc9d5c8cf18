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

from wia_lab.simt.semantics.exact import fused
from wia_lab.simt.semantics.table import Compute, Plan, Typed, implements, select

if TYPE_CHECKING:
    from wia_lab.simt.semantics.casts import Lanes


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
        divide = _float_divmod(dtype)
        return lambda x, y: divide(x, y)[0]
    return _floor_divide_signed(dtype) if dtype.kind == "i" else np.floor_divide


def remainder(dtype: np.dtype[Any]) -> Compute:
    """Return x % y of operands of `dtype`."""
    if dtype.kind == "f":
        divide = _float_divmod(dtype)
        return lambda x, y: divide(x, y)[1]
    return np.remainder


def _floor_divide_signed(dtype: np.dtype[Any]) -> Compute:
    lowest = np.iinfo(dtype).min

    def divide(x: Lanes, y: Lanes) -> Lanes:
        quotient = np.floor_divide(x, y)
        overflows = (y == -1) & (x == lowest)
        return select(overflows, dtype.type(0), quotient) if overflows.any() else quotient

    return divide


def _float_divmod(dtype: np.dtype[Any]) -> Any:
    fma, one, half = fused(dtype), dtype.type(1), dtype.type(0.5)

    def divide(x: Lanes, y: Lanes) -> tuple[Lanes, Lanes]:
        size = np.abs(y)
        rest = fma(-np.floor(np.abs(x) / size), size, np.abs(x))
        rest = select(x < 0, -rest, rest)
        ratio = (x - rest) / y
        other_sign = (rest != 0) & ((rest < 0) != (y < 0))
        ratio = select(other_sign, ratio - one, ratio)
        signed = select(other_sign, rest + y, rest)
        signed = select(rest == 0, np.copysign(dtype.type(0), y), signed)
        whole = np.floor(ratio)
        whole = select(ratio - whole > half, whole + one, whole)
        whole = select(ratio == 0, ratio * ratio * x / y, whole)
        by_zero = y == 0
        return select(by_zero, x / y, whole), select(by_zero, rest, signed)

    return divide
