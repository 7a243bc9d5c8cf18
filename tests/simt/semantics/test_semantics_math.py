"""`math` and `round` against Python's own, and C's rules where Python raises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import types

from wia_lab.simt.semantics import operation

UNARY = [
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh),
    *(math.tanh, math.asinh, math.acosh, math.atanh, math.exp, math.exp2, math.expm1, math.log),
    *(math.log2, math.log10, math.log1p, math.sqrt, math.fabs, math.erf, math.erfc, math.gamma),
    *(math.lgamma, math.degrees, math.radians),
]
BINARY = [
    math.atan2,
    math.hypot,
    math.pow,
    math.fmod,
    math.copysign,
    math.remainder,
    math.nextafter,
]
POINTS = [-3.5, -1.0, -0.75, -1e-9, -0.0, 0.0, 1e-300, 0.3, 0.5, 1.0, 1.5, 2.0, 7.25, 20.5, 150.0]


def python(function, *values) -> float | None:
    """Python's result, or None where it raises."""
    try:
        return float(function(*values))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def close(got, expected: float, units: float) -> bool:
    """Within some units in the last place of the result's type; the same zero, infinity or nan."""
    if math.isnan(expected) or math.isinf(expected) or expected == 0:
        exact = str(float(got)) == str(expected)
        return exact or (expected == 0 and abs(got) < 1e-300)
    return abs(float(got) - expected) <= units * float(np.spacing(np.abs(got.dtype.type(expected))))


class TestUnary:
    """Functions of one number."""

    @pytest.mark.parametrize("function", UNARY, ids=lambda function: function.__name__)
    @pytest.mark.parametrize("name", ["float32", "float64"])
    def test_values(self, function, name):
        """Python's values, to 4 units in the last place; nothing raises where Python does."""
        kind = getattr(types, name)
        x = np.array(POINTS, name)
        compute = operation(function, kind(kind))
        got = compute(x)
        assert got.dtype == np.dtype(name)
        for place, value in enumerate(x):
            alone = compute(value)
            assert isinstance(alone, np.generic)
            assert alone.dtype == np.dtype(name)
            expected = python(function, float(value))
            if expected is not None:
                with np.errstate(all="ignore"):
                    rounded = float(np.dtype(name).type(expected))
                assert close(got[place], rounded, 4), (value, got[place], expected)

    @pytest.mark.parametrize("function", UNARY, ids=lambda function: function.__name__)
    def test_integers_become_float64(self, function):
        """int64 operands are computed in float64."""
        got = operation(function, types.float64(types.int64))(np.array([1, 1], np.int64))
        assert got.dtype == np.float64
        expected = python(function, 1.0)
        if expected is not None:
            assert close(got[0], expected, 4)

    @pytest.mark.parametrize(
        ("function", "value", "expected"),
        [
            (math.sqrt, -1.0, math.nan),
            (math.sqrt, -0.0, -0.0),
            (math.log, 0.0, -math.inf),
            (math.log, -1.0, math.nan),
            (math.log1p, -1.0, -math.inf),
            (math.exp, 1e4, math.inf),
            (math.exp, -math.inf, 0.0),
            (math.acos, 2.0, math.nan),
            (math.atanh, 1.0, math.inf),
            (math.sin, math.inf, math.nan),
            (math.gamma, 0.0, math.inf),
            (math.gamma, -0.0, -math.inf),
            (math.gamma, -2.0, math.nan),
            (math.gamma, -math.inf, math.nan),
            (math.gamma, math.inf, math.inf),
            (math.gamma, 200.0, math.inf),
            (math.lgamma, -3.0, math.inf),
            (math.lgamma, 0.0, math.inf),
            (math.lgamma, -math.inf, math.inf),
            (math.erf, -math.inf, -1.0),
            (math.erfc, math.nan, math.nan),
        ],
    )
    def test_domain_and_poles(self, function, value, expected):
        """C's value, where Python raises or not."""
        for kind, dtype in ((types.float32, np.float32), (types.float64, np.float64)):
            got = operation(function, kind(kind))(dtype(value))
            assert str(float(got)) == str(expected)


class TestWholeNumbers:
    """Rounding functions."""

    @pytest.mark.parametrize("function", [math.ceil, math.floor, math.trunc])
    def test_floats_stay_floats(self, function):
        """math.ceil gives a float on the device, keeps infinities and the sign of zero."""
        x = np.array([-1.5, -0.5, 0.5, 1.5, 2.0**60, math.inf], np.float32)
        got = operation(function, types.float32(types.float32))(x)
        assert got.dtype == np.float32
        assert got[:5].tolist() == [float(function(float(value))) for value in x[:5]]
        assert got[5] == math.inf

    def test_integers_become_float64(self):
        """math.floor(int64) is float64."""
        got = operation(math.floor, types.float64(types.int64))(np.array([7]))
        assert got.dtype == np.float64
        assert got.tolist() == [7.0]

    def test_round_to_int(self):
        """Half to even; saturates; nan gives the lowest int64."""
        x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e30, -1e30, math.nan], np.float32)
        got = operation(round, types.int64(types.float32))(x)
        assert got.dtype == np.int64
        assert got.tolist() == [0, 2, 2, 0, -2, 2**63 - 1, -(2**63), -(2**63)]

    def test_round_to_digits(self):
        """CPython's fallback: near Python's `round`, half to even in the scaled value."""
        signature = types.float64(types.float64, types.int64)
        compute = operation(round, signature)
        cases = [(2.5, 0, 2.0), (0.125, 2, 0.12), (0.375, 2, 0.38), (1234.5678, 2, 1234.57),
                 (1250.0, -2, 1200.0), (-1350.0, -2, -1400.0),
                 (5.5e-20, 30, 5.5e10 / 1e22 / 1e8)]  # fmt: skip
        for value, digits, expected in cases:
            assert compute(np.float64(value), np.int64(digits)) == expected
        x, digits = (np.array(column) for column in list(zip(*cases, strict=True))[:2])
        assert compute(x, digits).tolist() == [case[2] for case in cases]

    def test_round_to_digits_saturates_inside(self):
        """The scaled value passes through int64, as in numba-cuda's PTX (cvt.rni.s64.f64)."""
        compute = operation(round, types.float64(types.float64, types.int64))
        assert compute(np.float64(1e300), np.int64(2)) == 2.0**63 / 100
        assert compute(np.float64(math.inf), np.int64(2)) == math.inf

    def test_round_of_float32_is_float32(self):
        """Computed in float64, rounded once."""
        compute = operation(round, types.float32(types.float32, types.int64))
        got = compute(np.array([2.675, 1.005], np.float32), np.int64(2))
        assert got.dtype == np.float32
        expected = [round(float(np.float32(value)), 2) for value in (2.675, 1.005)]
        assert got.tolist() == [float(np.float32(value)) for value in expected]


class TestBinary:
    """Functions of two numbers."""

    @pytest.mark.parametrize("function", BINARY, ids=lambda function: function.__name__)
    def test_values(self, function):
        """Python's values in float64, where it has one."""
        compute = operation(function, types.float64(types.float64, types.float64))
        y = np.array(POINTS)
        for x in POINTS:
            got = compute(np.float64(x), y)
            for value, result in zip(POINTS, got, strict=True):
                expected = python(function, x, value)
                if expected is not None:
                    assert close(result, expected, 1), (x, value, result, expected)

    def test_remainder_is_exact_in_float32(self):
        """Python's remainder of the same numbers is exact, so it has the same bits."""
        random = np.random.default_rng(1)
        x = (random.uniform(-1, 1, 400) * 2.0 ** random.integers(-140, 120, 400)).astype(np.float32)
        y = (random.uniform(0.5, 1, 400) * 2.0 ** random.integers(-145, 100, 400)).astype(
            np.float32
        )
        y[::5] = x[::5] / 3 + np.float32(1e-30)
        x[::7] = y[::7] * np.float32(2.5)
        got = operation(math.remainder, types.float32(types.float32, types.float32))(x, y)
        expected = [math.remainder(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        assert got.tolist() == expected

    def test_domain(self):
        """nan where Python raises."""
        binary = types.float64(types.float64, types.float64)
        for function, x, y in ((math.fmod, 1.0, 0.0), (math.remainder, 1.0, 0.0),
                               (math.remainder, math.inf, 1.0), (math.pow, -2.0, 0.5)):  # fmt: skip
            assert math.isnan(operation(function, binary)(np.float64(x), np.float64(y)))
        assert operation(math.pow, binary)(np.float64(0), np.float64(-1)) == math.inf

    def test_pow_with_int32_multiplies(self):
        """libdevice's powif squares and multiplies in float32, and inverts at the end."""
        signature = types.float32(types.float32, types.int32)
        x = np.float32(1.1)
        got = operation(math.pow, signature)(np.array([x, x]), np.array([5, -5], np.int32))
        fifth = x * ((x * x) * (x * x))
        assert got.tolist() == [float(fifth), float(np.float32(1) / fifth)]


class TestParts:
    """frexp, ldexp, modf."""

    @pytest.mark.parametrize("name", ["float32", "float64"])
    def test_frexp(self, name):
        """Mantissa and int32 exponent, which is 0 for infinity and nan."""
        kind = getattr(types, name)
        signature = types.Tuple((kind, types.int32))(kind)
        x = np.array([0.0, 1.0, -3.5, 1e-40, math.inf, math.nan], name)
        mantissa, exponent = operation(math.frexp, signature)(x)
        assert mantissa.dtype == np.dtype(name)
        assert exponent.dtype == np.int32
        for value, m, e in list(zip(x.tolist(), mantissa, exponent, strict=True))[:4]:
            assert (m, e) == math.frexp(value)
        assert exponent[4:].tolist() == [0, 0]

    def test_ldexp(self):
        """Scales without rounding; overflows to infinity."""
        signature = types.float64(types.float64, types.int32)
        got = operation(math.ldexp, signature)(
            np.float64(1.5), np.array([3, -1074, 2000], np.int32)
        )
        assert got.tolist() == [12.0, math.ldexp(1.5, -1074), math.inf]

    def test_modf(self):
        """Fraction first; an infinity has none."""
        signature = types.UniTuple(types.float64, 2)(types.float64)
        fraction, whole = operation(math.modf, signature)(np.array([-2.75, 3.0, -math.inf]))
        assert fraction.tolist() == [-0.75, 0.0, 0.0]
        assert whole.tolist() == [-2.0, 3.0, -math.inf]

    @pytest.mark.parametrize("function", [math.isnan, math.isinf, math.isfinite])
    def test_tests(self, function):
        """Of floats, and of integers, which are always finite."""
        x = np.array([1.0, math.inf, -math.inf, math.nan], np.float32)
        got = operation(function, types.boolean(types.float32))(x)
        assert got.dtype == np.bool_
        assert got.tolist() == [function(value) for value in x.tolist()]
        of_int = operation(function, types.boolean(types.int64))
        assert of_int(np.array([1, 2])).tolist() == [function(1)] * 2
        assert isinstance(of_int(np.int64(1)), np.bool_)
