"""Arithmetic rounded in a given direction: down (rd), up (ru), to zero (rz), to nearest (rn).

NumPy rounds to nearest. The sign of the rounding error, got exactly, says when to step to the
neighbour. Float32 errors are those of float64 arithmetic rounded to odd, which keeps their sign.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt.semantics.dtypes import FLOAT32, FLOAT64
from wia_lab.simt.semantics.exact import fma64, sum_to_odd
from wia_lab.simt.semantics.table import Compute, select

if TYPE_CHECKING:
    from wia_lab.simt.semantics.casts import Lanes

MODES = ("rn", "rd", "ru", "rz")


def step(nearest: Lanes, error: Lanes, mode: str) -> Lanes:
    """The value in `mode` of an exact number: `nearest` to it, and larger by -sign(error).

    `error` has the sign of exact - nearest; an infinity made from finite operands is too far out.
    """
    if mode == "rn":
        return nearest
    infinity = nearest.dtype.type(np.inf)
    down = np.nextafter(nearest, -infinity)
    up = np.nextafter(nearest, infinity)
    if mode == "rz":
        above, below = (nearest > 0) & (error < 0), (nearest < 0) & (error > 0)
        return select(above, down, select(below, up, nearest))
    if mode == "rd":
        return select(error < 0, down, nearest)
    return select(error > 0, up, nearest)


def rounded(compute: str, dtype: np.dtype[Any], mode: str) -> Compute:
    """Return `add`, `sub`, `mul`, `div`, `sqrt`, `rcp` or `fma` of `dtype`, rounded in `mode`."""
    if mode == "rd" and compute in _NEGATED:
        # A sum that cancels is -0 when rounded down: minus the negated sum, rounded up.
        up, negated = rounded(compute, dtype, "ru"), _NEGATED[compute]
        return lambda *lanes: (
            -up(*(-x if negate else x for x, negate in zip(lanes, negated, strict=True)))
        )
    if dtype == FLOAT32:
        exact = _TO_ODD[compute]
        return lambda *lanes: narrow(exact(*(x.astype(FLOAT64) for x in lanes)), mode)
    nearest, error = _NEAREST[compute], _ERROR[compute]
    if mode == "rn":
        return nearest

    def run(*lanes: Lanes) -> Lanes:
        value = nearest(*lanes)
        finite = np.isfinite(lanes[0])
        for operand in lanes[1:]:
            finite = finite & np.isfinite(operand)
        pole = lanes[-1] == 0 if compute in {"div", "rcp"} else np.False_
        rest = select(finite, error(value, *lanes), 0.0)
        rest = select(np.isinf(value) & finite & ~pole, -value, rest)
        return step(value, select(pole, 0.0, rest), mode)

    return run


def narrow(wide: Lanes, mode: str, dtype: np.dtype[Any] = FLOAT32) -> Lanes:
    """Float64 lanes as a narrower float, rounded in `mode`."""
    nearest = wide.astype(dtype)
    return step(nearest, select(np.isfinite(wide), wide - nearest.astype(FLOAT64), 0.0), mode)


def from_integer(x: Lanes, mode: str, dtype: np.dtype[Any]) -> Lanes:
    """Integer lanes as floats of `dtype`, rounded in `mode`."""
    size = np.absolute(x).astype(np.uint64)  # right for the lowest integer too: 2**63
    wide = size.astype(FLOAT64)
    too_large = wide == 2.0**64
    back = select(too_large, 0.0, wide).astype(np.uint64)
    error = select(too_large, -1.0, (size - back).view(np.int64).astype(FLOAT64))
    wide, error = select(x < 0, -wide, wide), select(x < 0, -error, error)
    return step(wide, error, mode) if dtype == FLOAT64 else narrow(_odd(wide, error), mode, dtype)


def _odd(nearest: Lanes, error: Lanes) -> Lanes:
    """`nearest` stepped to a neighbour with its last bit set, unless the error is zero."""
    bits = nearest.view(np.int64)
    inexact = (error != 0) & np.isfinite(nearest) & np.isfinite(error) & ((bits & 1) == 0)
    change = np.where((error > 0) == (nearest > 0), np.int64(1), np.int64(-1))
    return select(inexact, (bits + change).view(FLOAT64), nearest)


def _quotient_error(quotient: Lanes, x: Lanes, y: Lanes) -> Lanes:
    rest = fma64(-quotient, y, x)
    return select(np.signbit(y), -rest, rest)


def _root_error(root: Lanes, x: Lanes) -> Lanes:
    return fma64(-root, root, x)


def _fma_error(value: Lanes, *lanes: Lanes) -> Lanes:
    """Sign of the error, a lane at a time, in rational arithmetic."""

    def sign(value: float, x: float, y: float, z: float) -> float:
        if not all(map(math.isfinite, (value, x, y, z))):
            return 0.0
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        return float((exact > Fraction(value)) - (exact < Fraction(value)))

    return np.vectorize(sign, otypes=[FLOAT64])(value, *lanes)[()]


def _sum_error(total: Lanes, x: Lanes, y: Lanes) -> Lanes:
    of_y = total - x
    return (x - (total - of_y)) + (y - of_y)


_NEGATED = {"add": (True, True), "sub": (True, True), "fma": (True, False, True)}
"""Which operands to negate, so that a sum is negated."""

_NEAREST: dict[str, Compute] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "sqrt": np.sqrt,
    "rcp": lambda x: 1.0 / x,
    "fma": fma64,
}
_ERROR: dict[str, Compute] = {
    "add": _sum_error,
    "sub": lambda value, x, y: _sum_error(value, x, -y),
    "mul": lambda value, x, y: fma64(x, y, -value),
    "div": _quotient_error,
    "sqrt": _root_error,
    "rcp": lambda value, x: _quotient_error(value, np.float64(1), x),
    "fma": _fma_error,
}
_TO_ODD: dict[str, Compute] = {
    "add": sum_to_odd,
    "sub": lambda x, y: sum_to_odd(x, -y),
    "mul": np.multiply,
    "div": lambda x, y: _odd(x / y, _quotient_error(x / y, x, y)),
    "sqrt": lambda x: _odd(np.sqrt(x), _root_error(np.sqrt(x), x)),
    "rcp": lambda x: _odd(1.0 / x, _quotient_error(1.0 / x, np.float64(1), x)),
    "fma": lambda x, y, z: sum_to_odd(x * y, z),
}
