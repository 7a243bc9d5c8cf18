"""The `math` module (and `round`) as numba-cuda maps it to libdevice.

Nothing raises: a domain error gives nan, a pole an infinity. Float64 results are the C library's,
float32 ones NumPy's float32 loops': on hostile values both lie within 2 units in the last place of
an H200's, lgamma near its zeros apart (`tests/simt/semantics/silicon.npz`). Integers are converted
to float64 first. `ceil`, `floor` and `trunc` give floats; `round(x)` gives an int64 that saturates
(`llrint`).
"""

from __future__ import annotations

import math

import numpy as np

from wia_lab.simt.semantics import special
from wia_lab.simt.semantics.casts import Lanes, saturate
from wia_lab.simt.semantics.dtypes import FLOAT16, FLOAT32, FLOAT64, INT32, INT64
from wia_lab.simt.semantics.powers import float_to_integer
from wia_lab.simt.semantics.table import (
    Builder,
    Compute,
    Plan,
    Typed,
    implements,
    in_result,
    select,
)

FUNCTIONS: dict[str, Compute] = {
    **{
        name: getattr(np, name)
        for name in (
            *("ceil", "floor", "trunc", "fabs", "sqrt", "exp", "exp2", "expm1"),
            *("log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
            *("copysign", "fmod", "hypot", "nextafter"),
        )
    },
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "erf": special.erf,
    "erfc": special.erfc,
    "gamma": special.gamma,
    "lgamma": special.lgamma,
    "remainder": special.ieee_remainder,
}
"""Functions of `math` whose operands and result share one float type, by name."""


def through_float32(compute: Compute) -> Builder:
    """Return a builder that computes float16 in float32 and rounds, other types in their own."""

    def build(typed: Typed) -> Plan:
        if typed.result != FLOAT16:
            return in_result(compute)(typed)
        return Plan(
            lambda *lanes: compute(*lanes).astype(FLOAT16),
            (FLOAT32,) * len(typed.args),
        )

    return build


for _name, _compute in FUNCTIONS.items():
    implements(getattr(math, _name))(through_float32(_compute))


def _classification(test: Compute, of_integer: bool) -> Builder:
    """Return the builder of `isnan` and its kin; integers are neither nan nor infinite."""

    def build(typed: Typed) -> Plan:
        if typed.args[0].kind in "iub":
            return Plan(lambda x: np.full_like(x, of_integer, np.bool_)[()], typed.args)
        return Plan(test, typed.args)

    return build


implements(math.isnan)(_classification(np.isnan, of_integer=False))
implements(math.isinf)(_classification(np.isinf, of_integer=False))
implements(math.isfinite)(_classification(np.isfinite, of_integer=True))


def _scaled(factor: float) -> Builder:
    """Return the builder of a product with a constant, itself rounded to the type."""

    def build(typed: Typed) -> Plan:
        constant = typed.result.type(factor)
        return Plan(lambda x: constant * x, (typed.result,))

    return build


implements(math.radians)(_scaled(math.pi / 180.0))
implements(math.degrees)(_scaled(180.0 / math.pi))


@implements(math.frexp)
def frexp(typed: Typed) -> Plan:
    """`(mantissa, int32 exponent)`; the exponent of nan and infinity is zero."""

    def compute(x: Lanes) -> tuple[Lanes, Lanes]:
        mantissa, exponent = np.frexp(x)
        return mantissa, select(np.isfinite(x), exponent, np.int32(0)).astype(INT32)

    return Plan(compute, (typed.result[0],))


@implements(math.modf)
def modf(typed: Typed) -> Plan:
    """`(fraction, whole part)`, both floats with the sign of x."""
    return Plan(np.modf, (typed.result[0],))


@implements(math.ldexp)
def ldexp(typed: Typed) -> Plan:
    """x * 2 ** n."""
    return Plan(np.ldexp, (typed.result, INT32))


@implements(round)
def rounding(typed: Typed) -> Plan:
    """`round(x)` to an int64, half to even, or `round(x, digits)` to a float."""
    if len(typed.args) == 1:
        return Plan(round_to_int, (FLOAT64,))
    dtype = typed.result

    def compute(x: Lanes, digits: Lanes) -> Lanes:
        return round_to_digits(x.astype(FLOAT64), digits).astype(dtype)

    return Plan(compute, (dtype, INT64))


def round_to_int(x: Lanes) -> Lanes:
    """Float64 lanes to int64 (`cvt.rni.s64.f64`); nan gives the lowest."""
    return saturate(np.rint(x), INT64, if_nan=np.iinfo(INT64).min)


def round_to_digits(x: Lanes, digits: Lanes) -> Lanes:
    """CPython's fallback `double_round`, as numba-cuda compiles it.

    Its inner rounding goes through int64, so scaled values from 2**63 on saturate, as on hardware.
    """
    ten = np.float64(10)
    after = digits >= 0
    first = float_to_integer(ten, select(after, np.minimum(digits, 22), -digits))
    if (digits > 22).any():
        first = select(digits > 22, float_to_integer(ten, np.maximum(digits - 22, 0)), first)
    second = select(digits > 22, np.float64(1e22), np.float64(1))
    y = select(after, (x * first) * second, x / first)
    z = round_to_int(y).astype(FLOAT64)
    z = select(np.abs(y - z) == 0.5, 2.0 * round_to_int(y / 2.0).astype(FLOAT64), z)
    rounded = select(after, (z / second) / first, z * first)
    return select(~np.isfinite(x) | (after & np.isinf(y)), x, rounded)
