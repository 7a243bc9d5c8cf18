"""Operators on numbers: + - * / and or xor << >> - ~, comparisons, truth.

Signatures are Numba's: integers are computed at 64 bits, mixed operands in the type it chose. Rules
were read in numba-cuda 0.30.4's `cpython/numbers.py` and in the PTX it makes.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wia_lab.simt.semantics.casts import Lanes, between
from wia_lab.simt.semantics.dtypes import BOOL
from wia_lab.simt.semantics.table import (
    Compute,
    Plan,
    Typed,
    implements,
    in_arguments,
    in_result,
    select,
)

_UFUNCS = {
    (operator.add, operator.iadd): np.add,
    (operator.sub, operator.isub): np.subtract,
    (operator.mul, operator.imul): np.multiply,
    (operator.and_, operator.iand): np.bitwise_and,
    (operator.or_, operator.ior): np.bitwise_or,
    (operator.xor, operator.ixor): np.bitwise_xor,
}
for _keys, _ufunc in _UFUNCS.items():
    implements(*_keys)(in_result(_ufunc))

_COMPARISONS = {
    operator.eq: np.equal,
    operator.ne: np.not_equal,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
}
for _key, _ufunc in _COMPARISONS.items():
    implements(_key)(in_arguments(_ufunc))


@implements(operator.truediv, operator.itruediv)
def true_division(typed: Typed) -> Plan:
    """x / y: by zero it gives inf or nan, as the device does unless it compiles with debug."""
    compute = complex_quotient if typed.result.kind == "c" else np.true_divide
    return Plan(compute, (typed.result,) * 2)


def complex_quotient(x: Lanes, y: Lanes) -> Lanes:
    """CPython's algorithm (Smith's), which Numba compiles; nan where y is zero."""
    swap = np.abs(y.real) < np.abs(y.imag)
    large, small = select(swap, y.imag, y.real), select(swap, y.real, y.imag)
    ratio = small / large
    denominator = large + small * ratio
    real = select(swap, x.real * ratio + x.imag, x.real + x.imag * ratio)
    imag = select(swap, x.imag * ratio - x.real, x.imag - x.real * ratio)
    return complex_of(real / denominator, imag / denominator, x.dtype)


def complex_of(real: Lanes, imag: Lanes, dtype: np.dtype[Any]) -> Lanes:
    """Complex lanes of `dtype` from their parts, kept as they are (an infinity stays one)."""
    lanes = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), dtype)
    lanes.real, lanes.imag = real, imag
    return lanes[()]


def _shift(ufunc: np.ufunc) -> Any:
    """Return the builder of a shift.

    PTX takes the low 32 bits of the amount, unsigned, and shifts everything out from the width on;
    so does NumPy, but from 64 bits of it.
    """

    def build(typed: Typed) -> Plan:
        low = typed.result.type(0xFFFFFFFF)
        return Plan(lambda x, by: ufunc(x, by & low), (typed.result,) * 2)

    return build


implements(operator.lshift, operator.ilshift)(_shift(np.left_shift))
implements(operator.rshift, operator.irshift)(_shift(np.right_shift))


def then_widen(compute: Compute) -> Any:
    """Return a builder that computes in the argument's dtype, then converts to the result's.

    Numba negates and inverts before it widens: `-uint32(1)` is 2**32 - 1, as a uint64.
    """

    def build(typed: Typed) -> Plan:
        (takes,) = typed.args
        if takes == typed.result:
            return Plan(compute, (takes,))
        widen = between(takes, typed.result)
        return Plan(lambda x: widen(compute(x)), (takes,))

    return build


@implements(operator.neg)
def negation(typed: Typed) -> Plan:
    """-x; a boolean becomes an integer first."""
    if typed.args == (BOOL,):
        return Plan(np.negative, (typed.result,))
    return then_widen(np.negative)(typed)


implements(operator.invert)(then_widen(np.invert))


@implements(operator.pos)
def positive(typed: Typed) -> Plan:
    """+x: a conversion."""
    return Plan(between(typed.args[0], typed.result), typed.args)


@implements(operator.not_)
def logical_not(typed: Typed) -> Plan:
    """`not x`: true for zero, false for nan."""
    return Plan(np.logical_not, typed.args)


@implements(operator.truth)
def truth(typed: Typed) -> Plan:
    """`bool(x)`: false for zero, true for nan."""
    return Plan(lambda x: x != 0, typed.args)
