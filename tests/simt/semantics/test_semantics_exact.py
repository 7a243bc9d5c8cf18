"""Fused multiply-add and directed rounding against rational arithmetic."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from numba import types

from wia_lab.simt import stubs
from wia_lab.simt.semantics import operation
from wia_lab.simt.semantics.directed import from_integer, narrow, rounded
from wia_lab.simt.semantics.exact import fused

FORMATS = {"float16": ("e", "H"), "float32": ("f", "I"), "float64": ("d", "Q")}
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan]


def neighbours(exact: Fraction, name: str) -> tuple[float, float]:
    """The floats of a type just below and above a number, or it twice: by bisection of the bits."""
    code, integer = FORMATS[name]
    bits = 8 * struct.calcsize(code)

    def value(place: int) -> float:
        raw = place if place >= 0 else (1 << (bits - 1)) | (-place)
        return struct.unpack(code, struct.pack(integer, raw))[0]

    infinite = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}[bits]
    low, high = -infinite, infinite
    while high - low > 1:
        middle = (low + high) // 2
        if Fraction(value(middle)) <= exact:
            low = middle
        else:
            high = middle
    return (
        (value(low), value(low))
        if low > -infinite and value(low) == exact
        else (value(low), value(high))
    )


def nearest(exact: Fraction, name: str) -> float:
    """The float nearest to a number, ties to even."""
    code, integer = FORMATS[name]
    low, high = neighbours(exact, name)
    if math.isinf(low) or math.isinf(high):
        edge = Fraction(np.finfo(name).max.item())
        step = edge - Fraction(float(np.nextafter(np.finfo(name).max, np.dtype(name).type(0))))
        inside = abs(exact) < edge + step / 2
        size = float(edge) if inside else math.inf
        return size if exact > 0 else -size
    below, above = exact - Fraction(low), Fraction(high) - exact
    if below != above:
        return low if below < above else high
    even = struct.unpack(integer, struct.pack(code, low))[0] % 2 == 0
    return low if even else high


def in_mode(exact: Fraction, name: str, mode: str) -> float:
    """A number rounded in a direction."""
    if mode == "rn":
        return nearest(exact, name)
    low, high = neighbours(exact, name)
    if mode == "rz":
        mode = "rd" if exact > 0 else "ru"
    return low if mode == "rd" else high


def operands(name: str, count: int, seed: int):
    """Lanes whose sums cancel, round to ties, and reach the subnormals."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(name)
    spread = {"float16": 12, "float32": 60, "float64": 500}[name]
    scale = 2.0 ** random.integers(-spread, spread, count)
    with np.errstate(all="ignore"):
        return (random.integers(-(2**11), 2**11, count) * scale).astype(dtype)


class TestFma:
    """a * b + c is rounded once."""

    @pytest.mark.parametrize("name", FORMATS)
    def test_random(self, name):
        """Against fractions, where c cancels most of the product too."""
        a, b = operands(name, 300, 1), operands(name, 300, 2)
        c = operands(name, 300, 3)
        c[::2] = (-a[::2] * b[::2]).astype(name)
        got = fused(np.dtype(name))(a, b, c)
        assert got.dtype == np.dtype(name)
        for x, y, z, value in zip(a.tolist(), b.tolist(), c.tolist(), got.tolist(), strict=True):
            if all(map(math.isfinite, (x, y, z))):
                exact = Fraction(x) * Fraction(y) + Fraction(z)
                assert value == nearest(exact, name), (x, y, z)

    def test_double_rounding_trap(self):
        """Float64 arithmetic alone rounds this float32 sum twice, to the wrong side."""
        a, b = np.float32(1 + 2.0**-12), np.float32(1 + 2.0**-12)
        c = np.float32(2.0**-60)
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        got = operation(stubs.fma, types.float32(*[types.float32] * 3))(a, b, c)
        assert isinstance(got, np.float32)
        assert float(got) == nearest(exact, "float32")
        assert float(got) != float(np.float32(float(a) * float(b) + float(c)))

    @pytest.mark.parametrize(
        ("a", "b", "c"),
        [
            (1e200, 1e200, -1e300),
            (1e200, 1e150, -math.inf),
            (5e-324, 0.5, 5e-324),
            (5e-324, 0.5, 0.0),
            (1e-200, -1e-200, 0.0),
            (1.7e308, 2.0, -1.7e308),
            (1 + 2.0**-52, 1 - 2.0**-53, -1.0),
            (2.0**-600, 2.0**-400, 2.0**-1000),
        ],
    )
    def test_extremes(self, a, b, c):
        """Overflow that c undoes, results below the smallest number, cancellation."""
        got = operation(stubs.fma, types.float64(*[types.float64] * 3))
        value = got(np.float64(a), np.float64(b), np.float64(c))
        if math.isinf(c):
            assert value == c
        else:
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            assert value == nearest(exact, "float64")
            assert math.copysign(1, value) == (-1 if exact < 0 else 1)

    def test_infinite_addend_of_an_inexact_product(self):
        """Infinity is left, not nan."""
        got = fused(np.dtype(np.float64))(np.float64(0.1), np.float64(0.1), np.float64(-math.inf))
        assert got == -math.inf

    @pytest.mark.parametrize("name", FORMATS)
    def test_infinities_nans_and_zeros(self, name):
        """As a product and a sum, where neither rounds."""
        compute = fused(np.dtype(name))
        for a in SPECIAL:
            for b in SPECIAL:
                c = np.array(SPECIAL, name)
                got = compute(np.dtype(name).type(a), np.dtype(name).type(b), c).tolist()
                with np.errstate(all="ignore"):
                    expected = (np.float64(a) * b + np.array(SPECIAL)).tolist()
                assert str(got) == str(expected)


class TestDirected:
    """Rounding down, up and to zero."""

    EXACT = {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
    }

    @pytest.mark.parametrize("mode", ["rn", "rd", "ru", "rz"])
    @pytest.mark.parametrize("name", ["float32", "float64"])
    @pytest.mark.parametrize("function", EXACT)
    def test_arithmetic(self, function, name, mode):
        """Against fractions."""
        x, y = operands(name, 60, 4), operands(name, 60, 5)
        y[y == 0] = 3
        got = rounded(function, np.dtype(name), mode)(x, y)
        assert got.dtype == np.dtype(name)
        for a, b, value in zip(x.tolist(), y.tolist(), got.tolist(), strict=True):
            exact = self.EXACT[function](Fraction(a), Fraction(b))
            assert value == in_mode(exact, name, mode), (a, b)

    @pytest.mark.parametrize("mode", ["rn", "rd", "ru", "rz"])
    @pytest.mark.parametrize("name", ["float32", "float64"])
    def test_fma(self, name, mode):
        """Against fractions."""
        x, y, z = (operands(name, 40, seed) for seed in (6, 7, 8))
        got = rounded("fma", np.dtype(name), mode)(x, y, z)
        for a, b, c, value in zip(x.tolist(), y.tolist(), z.tolist(), got.tolist(), strict=True):
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            assert value == in_mode(exact, name, mode)

    @pytest.mark.parametrize("name", ["float32", "float64"])
    def test_root_brackets(self, name):
        """The square of the root rounded down is not above x, of the one rounded up not below."""
        x = np.array([2.0, 3.0, 4.0, 1e-40, 1e30, 0.1], name)
        down, up = (rounded("sqrt", np.dtype(name), mode)(x) for mode in ("rd", "ru"))
        for value, low, high in zip(x.tolist(), down.tolist(), up.tolist(), strict=True):
            assert Fraction(low) ** 2 <= Fraction(value) <= Fraction(high) ** 2
            assert high in {
                low,
                np.nextafter(np.dtype(name).type(low), np.dtype(name).type(2 * high)),
            }

    def test_cancelled_sums_are_negative_zero_downwards(self):
        """IEEE 754: -0 when rounded down, +0 in every other mode; +0 + +0 stays +0."""
        for name in ("float32", "float64"):
            dtype = np.dtype(name)
            one, zero = dtype.type(1), dtype.type(0)
            for mode in ("rn", "rd", "ru", "rz"):
                results = [
                    rounded("add", dtype, mode)(one, -one),
                    rounded("sub", dtype, mode)(one, one),
                    rounded("fma", dtype, mode)(one, one, -one),
                ]
                assert [bool(np.signbit(value)) for value in results] == [mode == "rd"] * 3
                assert not np.signbit(rounded("add", dtype, mode)(zero, zero))

    def test_overflow(self):
        """To zero and down, the largest number is left; up, infinity."""
        largest = np.finfo(np.float64).max
        results = [
            rounded("add", np.dtype(np.float64), mode)(largest, largest)
            for mode in ("rd", "ru", "rz")
        ]
        assert results == [largest, math.inf, largest]

    def test_division_by_zero_is_infinite_in_every_mode(self):
        """A pole is not rounded."""
        for name in ("float32", "float64"):
            one, zero = np.dtype(name).type(1), np.dtype(name).type(0)
            assert [
                rounded("div", np.dtype(name), mode)(one, zero) for mode in ("rd", "ru", "rz")
            ] == [math.inf] * 3

    @pytest.mark.parametrize("mode", ["rn", "rd", "ru", "rz"])
    @pytest.mark.parametrize("target", ["float16", "float32", "float64"])
    def test_from_integer(self, target, mode):
        """int64 and uint64 at the edges of what floats hold."""
        signed = [
            0,
            1,
            -1,
            2**24 + 1,
            -(2**24) - 1,
            2**53 + 1,
            2**60 + 2**36 + 1,
            2**63 - 1,
            -(2**63),
        ]
        for values, dtype in ((signed, np.int64), ([2**64 - 1, 2**63 + 1, 7], np.uint64)):
            got = from_integer(np.array(values, dtype), mode, np.dtype(target)).tolist()
            assert got == [in_mode(Fraction(value), target, mode) for value in values]

    @pytest.mark.parametrize("mode", ["rn", "rd", "ru", "rz"])
    @pytest.mark.parametrize("target", ["float16", "float32"])
    def test_narrow(self, target, mode):
        """float64 to the narrower floats, overflow and subnormals included."""
        values = [0.1, -0.1, 1e-50, -1e-50, 1e300, -1e300, 65519.99, 3e-8, 1.0]
        got = narrow(np.array(values), mode, np.dtype(target)).tolist()
        assert got == [in_mode(Fraction(value), target, mode) for value in values]
