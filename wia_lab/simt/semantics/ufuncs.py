"""NumPy's universal functions on scalars, those that numba-cuda lowers, and `cmath`.

Complex functions are NumPy's: C99's values at infinities and branch cuts.
"""

from __future__ import annotations

import cmath
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt.semantics.arithmetic import complex_quotient
from wia_lab.simt.semantics.dtypes import BOOL, FLOAT64
from wia_lab.simt.semantics.mathematics import FUNCTIONS
from wia_lab.simt.semantics.selection import fmax, fmin
from wia_lab.simt.semantics.table import (
    Builder,
    Plan,
    Typed,
    implements,
    in_arguments,
    in_result,
    select,
)

if TYPE_CHECKING:
    from wia_lab.simt.semantics.casts import Lanes

_FLOATING = (
    *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2, np.hypot),
    *(np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh),
    *(np.deg2rad, np.radians, np.rad2deg, np.degrees, np.log, np.log2, np.log10),
)
for _floating in _FLOATING:
    implements(_floating)(in_result(_floating))


def _in_common(ufunc: np.ufunc) -> Builder:
    """Return a builder that works in the type that holds both operands, as NumPy's loops do.

    A signed and an unsigned integer are compared by value: both are handed to NumPy as they are.
    """

    def build(typed: Typed) -> Plan:
        kinds = {dtype.kind for dtype in typed.args}
        if kinds == {"i", "u"}:
            return Plan(ufunc, typed.args)
        return Plan(ufunc, (np.result_type(*typed.args),) * len(typed.args))

    return build


_PREDICATES = (
    *(np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal),
    *(np.logical_and, np.logical_or, np.logical_xor, np.logical_not),
)
for _predicate in _PREDICATES:
    implements(_predicate)(_in_common(_predicate))


def _extremum(ufunc: np.ufunc, of_floats: Any) -> Builder:
    def build(typed: Typed) -> Plan:
        return Plan(of_floats if typed.result.kind == "f" else ufunc, (typed.result,) * 2)

    return build


def _keeping_nan(ufunc: np.ufunc, ordered: Any) -> Any:
    def compute(x: Lanes, y: Lanes) -> Lanes:
        nan = np.isnan(x) | np.isnan(y)
        return select(nan, ufunc(x, y), ordered(x, y)) if nan.any() else ordered(x, y)

    return compute


implements(np.fmax)(_extremum(np.fmax, fmax))
implements(np.fmin)(_extremum(np.fmin, fmin))
implements(np.maximum)(_extremum(np.maximum, _keeping_nan(np.maximum, fmax)))
implements(np.minimum)(_extremum(np.minimum, _keeping_nan(np.minimum, fmin)))

_BITWISE = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.conjugate)
for _bitwise in _BITWISE:
    implements(_bitwise)(in_result(_bitwise))


def _shift(ufunc: np.ufunc) -> Builder:
    """Return the builder of a shift in the result's own width, its amount taken as PTX takes it."""

    def build(typed: Typed) -> Plan:
        result = typed.result
        if result.itemsize < FLOAT64.itemsize:
            return in_result(ufunc)(typed)
        low = result.type(0xFFFFFFFF)
        return Plan(lambda x, by: ufunc(x, by & low), (result,) * 2)

    return build


implements(np.left_shift)(_shift(np.left_shift))
implements(np.right_shift)(_shift(np.right_shift))


@implements(np.divide)
def divide(typed: Typed) -> Plan:
    """`np.divide`: true division."""
    compute = complex_quotient if typed.result.kind == "c" else np.true_divide
    return Plan(compute, (typed.result,) * 2)


@implements(np.isnan)
def isnan(typed: Typed) -> Plan:
    """`np.isnan`: false for integers and booleans."""
    if typed.args[0].kind in "iub":
        return Plan(lambda x: np.zeros_like(x, BOOL)[()], typed.args)
    return Plan(np.isnan, typed.args)


_CMATH = {
    **{name: FUNCTIONS[name] for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh")},
    **{name: FUNCTIONS[name] for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
    **{name: FUNCTIONS[name] for name in ("exp", "sqrt", "log10")},
}
for _name, _compute in _CMATH.items():
    implements(getattr(cmath, _name))(in_result(_compute))
_TESTS = {cmath.isnan: np.isnan, cmath.isinf: np.isinf, cmath.isfinite: np.isfinite}
for _key, _test in _TESTS.items():
    implements(_key)(in_arguments(_test))


@implements(cmath.log)
def complex_log(typed: Typed) -> Plan:
    """`cmath.log(z)`, or to a base: a quotient of two logarithms."""
    if len(typed.args) == 1:
        return Plan(np.log, typed.args)
    return Plan(lambda z, base: complex_quotient(np.log(z), np.log(base)), typed.args)
