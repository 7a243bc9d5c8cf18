"""x ** y, as numba-cuda compiles it: repeated multiplication where the exponent is an integer.

The PTX of an integer power multiplies in the integer type, then goes through float64 and back,
since Numba's `int_power` may also return 1 / r: results from 2**53 on lose their low bits, and
those past the type saturate. numba-cuda has no shorter path for a literal exponent.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from wia_lab.simt.semantics.arithmetic import complex_of
from wia_lab.simt.semantics.casts import Lanes, between
from wia_lab.simt.semantics.dtypes import FLOAT64, INT32
from wia_lab.simt.semantics.table import Compute, Plan, Typed, implements, select

_LONGEST = 0x10000
"""The largest exponent that Numba multiplies out; above it calls the float `pow`."""


@implements(operator.pow, operator.ipow, pow)
def power(typed: Typed) -> Plan:
    """x ** y."""
    exponent = typed.args[1]
    if typed.result.kind == "c":
        return Plan(complex_power, (typed.result,) * 2)
    if exponent.kind in "iu":
        compute = (
            integer_to_integer(typed.result) if typed.result.kind in "iu" else float_to_integer
        )
        return Plan(compute, (typed.result, exponent))
    return Plan(np.power, (typed.result,) * 2)


@implements(math.pow, "libdevice.pow", "libdevice.powf", "libdevice.powi", "libdevice.powif")
def math_power(typed: Typed) -> Plan:
    """`math.pow`; an int32 exponent goes to libdevice's `powi`, which multiplies."""
    if typed.args[1] == INT32:
        return Plan(_multiplied_out, (typed.result, INT32))
    return Plan(np.power, (typed.result,) * 2)


def float_to_integer(x: Lanes, n: Lanes) -> Lanes:
    """x ** n of floats x and integers n: `pow` in float64 where |n| is above 65536."""
    long = _magnitude(n) > _LONGEST
    value = _multiplied_out(x, select(long, n.dtype.type(0), n))
    return select(long, _by_pow(x, n).astype(x.dtype), value) if long.any() else value


def integer_to_integer(dtype: np.dtype[Any]) -> Compute:
    """Return x ** n of integers of `dtype` and integers n.

    For negative n it is 0, but ±1 where x is ±1, and the lowest integer where x is 0.
    """
    to_integer = between(FLOAT64, dtype)
    minus_one = dtype.type(0) - dtype.type(1)
    if_zero = np.float64(-(2.0**63))

    def compute(x: Lanes, n: Lanes) -> Lanes:
        size = _magnitude(n)
        long = size > _LONGEST
        value = _by_squaring(x, select(long, np.uint64(0), size)).astype(FLOAT64)
        if long.any():
            value = select(long, _by_pow(x, n), value)
        negative = n < 0
        if negative.any():
            unit = (x == 1) | (x == minus_one)
            inverse = select(unit, value, select(x == 0, if_zero, np.float64(0)))
            value = select(negative, inverse, value)
        return to_integer(value)

    return compute


def _multiplied_out(x: Lanes, n: Lanes) -> Lanes:
    value = _by_squaring(x, _magnitude(n))
    negative = n < 0
    return select(negative, x.dtype.type(1) / value, value) if negative.any() else value


def _magnitude(n: Lanes) -> Lanes:
    """|n| as an unsigned integer: right for the lowest one too."""
    return np.absolute(n).astype(f"uint{8 * n.dtype.itemsize}")


def _by_squaring(x: Lanes, n: Lanes) -> Lanes:
    """x ** n for 0 <= n, in the order in which Numba and libdevice multiply."""
    one: Lanes = x.dtype.type(1)
    if not isinstance(n, np.ndarray):
        return _by_squaring_uniform(x, int(n))
    value = np.full(n.shape, one)
    while True:
        value = select(n & 1 != 0, value * x, value)
        n = n >> 1
        if not n.any():
            return value
        x = x * x


def _by_squaring_uniform(x: Lanes, n: int) -> Lanes:
    """As `_by_squaring`, for one exponent; multiplying by 1 first would change nothing."""
    value: Lanes = None
    while n:
        if n & 1:
            value = x if value is None else value * x
        n >>= 1
        if n:
            x = x * x
    return np.ones_like(x)[()] if value is None else value


def _by_pow(x: Lanes, n: Lanes) -> Lanes:
    return np.power(x.astype(FLOAT64), n.astype(FLOAT64))


def complex_power(x: Lanes, y: Lanes) -> Lanes:
    """CPython's `_Py_c_pow`, as numba-cuda's mathimpl has it."""
    size, angle = np.hypot(x.real, x.imag), np.arctan2(x.imag, x.real)
    length = np.power(size, y.real)
    phase = angle * y.real
    turned = y.imag != 0
    length = select(turned, length / np.exp(angle * y.imag), length)
    phase = select(turned, phase + y.imag * np.log(size), phase)
    power = complex_of(length * np.cos(phase), length * np.sin(phase), x.dtype)
    power = select((x.real == 0) & (y.real == 0), x.dtype.type(0), power)
    return select((y.real == 0) & (y.imag == 0), x.dtype.type(1), power)
