"""Functions of `math` that NumPy lacks: erf, erfc, gamma, lgamma, the IEEE remainder."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wia_lab.simt.semantics.casts import Lanes
from wia_lab.simt.semantics.table import Compute, select


def lanewise(function: Callable[[float], float]) -> Compute:
    """Return a function of one Python float, made a function of lanes of any float dtype."""

    def compute(x: Lanes) -> Lanes:
        values = np.fromiter(map(function, np.ravel(x).tolist()), np.float64, np.size(x))
        return values.reshape(np.shape(x)).astype(x.dtype)[()]

    return compute


def _gamma(x: float) -> float:
    """C's tgamma: infinities at the poles' zero, nan at negative whole numbers, no exceptions."""
    if x == 0:
        return math.copysign(math.inf, x)
    if x < 0 and (x == -math.inf or x == math.floor(x)):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf if x > 0 else math.nan


def _lgamma(x: float) -> float:
    """C's lgamma: infinite at the poles."""
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


erf = lanewise(math.erf)
erfc = lanewise(math.erfc)
gamma = lanewise(_gamma)
lgamma = lanewise(_lgamma)


def ieee_remainder(x: Lanes, y: Lanes) -> Lanes:
    """x - n * y, exact, with n the whole number nearest to x / y, half to even.

    The algorithm of fdlibm's `e_remainder.c`: reduce by 2y, then subtract y at most twice. Halves
    are compared so that neither doubling overflows nor halving loses a bit.
    """
    rest = _magnitude(np.abs(x), np.abs(y))
    return select(np.signbit(x), -rest, rest)


def _magnitude(x: Lanes, y: Lanes) -> Lanes:
    info: Any = np.finfo(x.dtype)
    double = y + y
    rest = select(np.isinf(double), x, np.fmod(x, double))
    small = y < 4 * info.tiny
    half = y * x.dtype.type(0.5)

    def above(value: Lanes, or_equal: bool) -> Lanes:
        compare = np.greater_equal if or_equal else np.greater
        return select(small, compare(value + value, y), compare(value, half))

    rest = select(above(rest, or_equal=False), rest - y, rest)
    rest = select(above(rest, or_equal=True), rest - y, rest)
    return select(np.isinf(y) & np.isfinite(x), x, rest)
