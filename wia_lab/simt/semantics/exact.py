"""Fused multiply-add: a * b + c rounded once, for each float width.

NumPy has no such function. For float16 and float32 the work is done in float64, whose sum is
rounded *to odd* before it is rounded to the narrow type: with at least two bits more than the
target, that equals a single rounding (Boldo and Melquiond, "Emulation of FMA and correctly rounded
sums: proved algorithms using rounding to odd", IEEE Transactions on Computers 57(4), 2008). For
float64 their algorithm sums the exact product and c in the same manner. It needs operands far from
overflow and underflow; lanes that are not are computed with fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt.semantics.dtypes import FLOAT64
from wia_lab.simt.semantics.table import Compute, Plan, Typed, implements, select

if TYPE_CHECKING:
    from wia_lab.simt.semantics.casts import Lanes

_SPLITTER = 2.0**27 + 1
_SAFE = (2.0**-200, 2.0**200)


def fused(dtype: np.dtype[Any]) -> Compute:
    """Return the fused multiply-add of three operands of `dtype`."""
    if dtype == FLOAT64:
        return fma64
    narrow = dtype.type

    def fma(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        product = a.astype(FLOAT64) * b.astype(FLOAT64)  # exact: twice 24 bits fit in 53
        return sum_to_odd(product, c.astype(FLOAT64)).astype(narrow)

    return fma


@implements("fma")
def fma(typed: Typed) -> Plan:
    """`cuda.fma`."""
    return Plan(fused(typed.result), typed.args)


def fma64(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """a * b + c of float64 operands, rounded once."""
    safe = _safe(a) & _safe(b) & _safe(c)
    result = _sum_of_product(a, b, c)
    if safe.all():
        return result
    result, safe, a, b, c = np.broadcast_arrays(result, safe, a, b, c)
    result = result.copy()
    for lane in np.argwhere(~safe):
        place = tuple(lane)
        result[place] = _fma_of_fractions(float(a[place]), float(b[place]), float(c[place]))
    return result[()]


def sum_to_odd(x: Lanes, y: Lanes) -> Lanes:
    """x + y in float64, rounded to odd: the last bit is set unless the sum is exact."""
    total, rest = _two_sum(x, y)
    bits = total.view(np.int64)
    inexact = (rest != 0) & np.isfinite(total) & np.isfinite(rest) & ((bits & 1) == 0)
    away = (rest > 0) == (total > 0)  # the exact sum is farther from zero than `total`
    step = np.where(away, np.int64(1), np.int64(-1))
    return select(inexact, (bits + step).view(FLOAT64), total)


def _sum_of_product(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """Boldo and Melquiond's algorithm."""
    high, low = two_product(a, b)
    top, bottom = _two_sum(c, low)
    upper, lower = _two_sum(high, top)
    plain = (low == 0) | ~np.isfinite(c)
    return select(plain, high + c, upper + sum_to_odd(bottom, lower))


def _safe(x: Lanes) -> Lanes:
    size = np.abs(x)
    smallest, largest = _SAFE
    return (size == 0) | ((size > smallest) & (size < largest)) | ~np.isfinite(x)


def _two_sum(x: Lanes, y: Lanes) -> tuple[Lanes, Lanes]:
    """x + y rounded, and the exact error of that."""
    total = x + y
    of_y = total - x
    return total, (x - (total - of_y)) + (y - of_y)


def two_product(x: Lanes, y: Lanes) -> tuple[Lanes, Lanes]:
    """x * y rounded, and the exact error of that."""
    product = x * y
    x_high, x_low = _split(x)
    y_high, y_low = _split(y)
    error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, select(np.isfinite(product), error, 0.0)


def _split(x: Lanes) -> tuple[Lanes, Lanes]:
    """Two halves of 26 bits that add up to x."""
    scaled = x * _SPLITTER
    high = scaled - (scaled - x)
    return high, x - high


def _fma_of_fractions(a: float, b: float, c: float) -> float:
    """One lane, of finite numbers, in rational arithmetic."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return float(np.multiply(a, b) + c)
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        zero = math.copysign(1, a) * math.copysign(1, b) * 0.0
        return zero + c if a == 0 or b == 0 else 0.0
    sign = 1 if exact > 0 else -1  # also of a result too small for any but a zero
    try:
        return math.copysign(float(exact), sign)
    except OverflowError:
        return math.copysign(math.inf, sign)
