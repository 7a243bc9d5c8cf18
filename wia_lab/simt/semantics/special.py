"""Functions of `math` that NumPy lacks: erf, erfc, gamma, lgamma, the IEEE remainder."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt.semantics.table import Compute, select

if TYPE_CHECKING:
    from collections.abc import Callable

    from wia_lab.simt.semantics.casts import Lanes


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
    """x - n * y, exact, with n the whole number nearest to x / y, half to even."""
    return remainder_and_quotient(x, y)[0]


def remainder_and_quotient(x: Lanes, y: Lanes) -> tuple[Lanes, Lanes]:
    """The IEEE remainder, and n's three low bits with the quotient's sign, an int32.

    Reduce |x| by 8 |y|, then subtract multiples: each step is exact. Halves are compared so that
    neither doubling overflows nor halving loses a bit.
    """
    size, divisor = np.abs(x), np.abs(y)
    rest, bits = _reduce(size, divisor)
    rest = select(np.isinf(y) & np.isfinite(x), size, rest)
    rest = select(np.isnan(x) | np.isnan(y) | np.isinf(x) | (y == 0), x.dtype.type(np.nan), rest)
    bits = select(np.isfinite(rest), bits, np.int32(0))
    return (
        select(np.signbit(x), -rest, rest),
        select(np.signbit(x) != np.signbit(y), -bits, bits),
    )


def _reduce(x: Lanes, y: Lanes) -> tuple[Lanes, Lanes]:
    """Remainder of non-negative lanes and the low three bits of the quotient."""
    bits: Any = np.int32(0)
    eight = y * x.dtype.type(8)
    rest = select(np.isinf(eight), x, np.fmod(x, eight))
    for count in (4, 2):
        multiple = y * x.dtype.type(count)
        above = rest >= multiple
        rest = select(above, rest - multiple, rest)
        bits = bits + select(above, np.int32(count), np.int32(0))
    small = y < 4 * np.finfo(x.dtype).tiny
    half = y * x.dtype.type(0.5)
    still: Any = np.True_
    for compare in (np.greater, np.greater_equal):
        still = still & select(small, compare(rest + rest, y), compare(rest, half))
        rest = select(still, rest - y, rest)
        bits = bits + select(still, np.int32(1), np.int32(0))
    return rest, bits & np.int32(7)
