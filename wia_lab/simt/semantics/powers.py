"""x ** y, as Numba compiles it: repeated multiplication where the exponent is an integer."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wia_lab.simt.semantics.arithmetic import complex_of
from wia_lab.simt.semantics.casts import Lanes, convert
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
        return Plan(integer_power(typed.result), (typed.result, exponent))
    return Plan(np.power, (typed.result,) * 2)


def integer_power(result: np.dtype[Any]) -> Compute:
    """Return x ** n of x of dtype `result` and integer n, by squaring; 1 / x ** -n for negative n.

    An integer to a negative power is 0, but ±1 where x is ±1, and the lowest integer where x is 0.
    """
    inverse = _inverse_of_integer if result.kind in "iu" else _inverse_of_float

    def compute(x: Lanes, n: Lanes) -> Lanes:
        negative = n < 0
        size = select(negative, np.negative(n), n).astype(np.uint64)
        long = size > _LONGEST
        value = _by_squaring(x, select(long, np.uint64(0), size), result)
        if long.any():
            value = select(long, _by_pow(x, n, result), value)
        if not negative.any():
            return value
        return select(negative, inverse(x, value, long), value)

    return compute


def _inverse_of_float(x: Lanes, value: Lanes, long: Lanes) -> Lanes:
    return select(long, value, x.dtype.type(1) / value)


def _inverse_of_integer(x: Lanes, value: Lanes, long: Lanes) -> Lanes:
    del long
    zero, one = x.dtype.type(0), x.dtype.type(1)
    unit = (x == one) | (x == zero - one)
    return select(unit, value, select(x == zero, one << x.dtype.type(63), zero))


def _by_squaring(x: Lanes, n: Lanes, dtype: np.dtype[Any]) -> Lanes:
    """x ** n for 0 <= n, in the order of multiplications that Numba unrolls."""
    value: Lanes = dtype.type(1)
    while True:
        odd = (n & 1) != 0
        value = select(odd, value * x, value)
        n = n >> 1
        if not n.any():
            return value
        x = x * x


def _by_pow(x: Lanes, n: Lanes, dtype: np.dtype[Any]) -> Lanes:
    return convert(np.power(x.astype(np.float64), n.astype(np.float64)), dtype)


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
