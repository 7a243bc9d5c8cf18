"""Choosing and converting: min, max, abs, selp, number constructors, parts of complex numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numba import types

from wia_lab.simt.semantics.arithmetic import complex_of
from wia_lab.simt.semantics.casts import Lanes, between
from wia_lab.simt.semantics.dtypes import FLOAT32, FLOAT64, NUMBERS, real_of
from wia_lab.simt.semantics.table import Compute, Plan, Typed, implements, in_arguments, select


def fmax(x: Lanes, y: Lanes) -> Lanes:
    """PTX `max`: the other operand where one is nan; +0 is above -0."""
    result = np.fmax(x, y)
    zeros = _both_zero(x, y)
    if zeros is None:
        return result
    zero = result.dtype.type(0)
    return select(zeros, select(np.signbit(x) & np.signbit(y), -zero, zero), result)


def fmin(x: Lanes, y: Lanes) -> Lanes:
    """PTX `min`: the other operand where one is nan; -0 is below +0."""
    result = np.fmin(x, y)
    zeros = _both_zero(x, y)
    if zeros is None:
        return result
    zero = result.dtype.type(0)
    return select(zeros, select(np.signbit(x) | np.signbit(y), -zero, zero), result)


def _both_zero(x: Lanes, y: Lanes) -> Lanes | None:
    """Where both operands are zeros, or None if nowhere."""
    of_y = y == 0
    if not of_y.any():
        return None
    zeros = (x == 0) & of_y
    return zeros if zeros.any() else None


def _extremum(float_pair: Compute, integers: np.ufunc, better: np.ufunc) -> Any:
    """Return the builder of `min` or `max`.

    Two values of float32 or float64 go to libdevice's fmin or fmax; other arguments to Python's
    algorithm, which keeps the first of two unless the next compares better: a leading nan stays.
    """

    def choose(best: Lanes, value: Lanes) -> Lanes:
        return select(better(value, best), value, best)

    def build(typed: Typed) -> Plan:
        takes = (typed.result,) * len(typed.args)
        if typed.result.kind in "iub":
            pair: Compute = integers
        elif len(takes) == 2 and set(typed.args) <= {FLOAT32, FLOAT64}:
            pair = float_pair
        else:
            pair = choose
        if len(takes) == 2:
            return Plan(pair, takes)

        def fold(first: Lanes, *others: Lanes) -> Lanes:
            for other in others:
                first = pair(first, other)
            return first

        return Plan(fold, takes)

    return build


implements(max)(_extremum(fmax, np.maximum, np.greater))
implements(min)(_extremum(fmin, np.minimum, np.less))


@implements(abs, operator.abs)
def absolute(typed: Typed) -> Plan:
    """`abs(x)`; the lowest integer stays as it is."""
    return Plan(np.absolute, typed.args)


@implements("selp")
def selection(typed: Typed) -> Plan:
    """`cuda.selp(test, a, b)`: a where the test is not zero."""
    return Plan(lambda test, a, b: select(test != 0, a, b), typed.args)


def construct(typed: Typed) -> Plan:
    """A number type called with a value: a conversion."""
    if len(typed.args) != 1:
        return _complex_of_parts(typed)
    (source,) = typed.args
    return Plan(between(source, typed.result), (source,))


def _complex_of_parts(typed: Typed) -> Plan:
    dtype = typed.result
    part = real_of(dtype)
    return Plan(lambda real, imag: complex_of(real, imag, dtype), (part, part))


implements(int, float, bool, complex)(construct)
for _name, _dtype in NUMBERS.items():
    implements(_dtype.type, getattr(types, "boolean" if _name == "bool" else _name))(construct)


@implements(operator.index)
def index(typed: Typed) -> Plan:
    """`operator.index(x)`: the integer itself."""
    return construct(typed)


@implements("real")
def real(typed: Typed) -> Plan:
    """`x.real`."""
    return Plan(lambda x: x.real, typed.args)


@implements("imag")
def imag(typed: Typed) -> Plan:
    """`x.imag`: zero unless x is complex."""
    return Plan(lambda x: x.imag, typed.args)


implements("conjugate", "complex.conjugate")(in_arguments(np.conjugate))
