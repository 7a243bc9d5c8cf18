"""Complex numbers, `cmath`, and NumPy's universal functions, against Python's own."""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np
import pytest
from numba import types

from wia_lab.simt.semantics import operation

C64, C128 = types.complex64, types.complex128
PAIR = C128(C128, C128)
POINTS = [1 + 2j, -1.5 + 0.25j, 3 - 4j, -2 - 1j, 0.5 + 0j, 2j]


class TestArithmetic:
    """Operators."""

    KEYS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]

    @pytest.mark.parametrize("key", KEYS, ids=lambda key: key.__name__)
    def test_as_python(self, key):
        """Near Python's values, lanes and scalars alike."""
        x, y = (side.ravel() for side in np.meshgrid(np.array(POINTS), np.array(POINTS)))
        compute = operation(key, PAIR)
        got = compute(x, y)
        assert got.dtype == np.complex128
        expected = [key(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        if key is operator.pow:
            assert (x[-1], y[-1], got[-1]) == (2j, 2j, 0)  # numba-cuda tests only the real parts
            expected[-1] = 0
        np.testing.assert_allclose(got, expected, rtol=1e-13)
        alone = compute(x[1], y[1])
        assert isinstance(alone, np.complex128)
        assert alone == got[1]

    def test_complex64_stays(self):
        """Computed in float32."""
        got = operation(operator.truediv, C64(C64, C64))(np.complex64(1), np.complex64(3 + 0j))
        assert isinstance(got, np.complex64)
        assert got.real == np.float32(1) / np.float32(3)

    def test_real_operands_convert(self):
        """complex * int64."""
        assert operation(operator.mul, PAIR)(np.complex128(1 + 2j), np.int64(3)) == 3 + 6j

    def test_zeroth_power_and_power_of_zero(self):
        """As CPython has them."""
        compute = operation(operator.pow, PAIR)
        assert compute(np.complex128(0), np.complex128(0)) == 1
        assert compute(np.complex128(3 + 1j), np.complex128(0)) == 1

    def test_division_by_zero_is_nan(self):
        """No exception."""
        got = operation(operator.truediv, PAIR)(np.complex128(1), np.complex128(0))
        assert cmath.isnan(complex(got))

    def test_large_divisor_does_not_overflow(self):
        """Smith's algorithm scales."""
        got = operation(operator.truediv, PAIR)(
            np.complex128(1e300 + 1e300j), np.complex128(1e300 + 1e300j)
        )
        assert got == 1

    def test_equality(self):
        """Both parts; nan is unequal to itself."""
        nan = complex(math.nan, 0)
        for key, expected in (
            (operator.eq, [True, False, False]),
            (operator.ne, [False, True, True]),
        ):
            compute = operation(key, types.boolean(C128, C128))
            x, y = np.array([1 + 1j, 1 + 1j, nan]), np.array([1 + 1j, 1 + 2j, nan])
            assert compute(x, y).tolist() == expected

    def test_truth(self):
        """Either part."""
        got = operation(bool, types.boolean(C64))(np.array([0, 1j, 1], np.complex64))
        assert got.tolist() == [False, True, True]


class TestParts:
    """abs, negation and attributes."""

    def test_abs_is_hypot(self):
        """A float of half the width, without overflow."""
        got = operation(abs, types.float32(C64))(np.array([3 + 4j, 1e30 + 1e30j], np.complex64))
        assert got.dtype == np.float32
        assert got[0] == 5
        assert math.isclose(got[1], math.hypot(1e30, 1e30), rel_tol=1e-6)

    def test_attributes(self):
        """real, imag and conjugate, of real numbers too."""
        z = np.array([1 + 2j, -3 - 0.0j])
        assert operation("real", types.float64(C128))(z).tolist() == [1, -3]
        assert operation("imag", types.float64(C128))(z).tolist() == [2, 0]
        assert operation("conjugate", C128(C128))(z).tolist() == [1 - 2j, -3 + 0j]
        assert operation("imag", types.float32(types.float32))(np.float32(7)) == 0
        assert operation("conjugate", types.int64(types.int64))(np.int64(7)) == 7

    def test_negation(self):
        """Both parts."""
        assert operation(operator.neg, C128(C128))(np.complex128(1 - 2j)) == -1 + 2j


CMATH = [
    *(cmath.acos, cmath.asin, cmath.asinh, cmath.atan, cmath.atanh, cmath.cos, cmath.exp),
    *(cmath.sin, cmath.sqrt, cmath.tan, cmath.log),
]


class TestCmath:
    """Functions that numba-cuda lowers."""

    @pytest.mark.parametrize("function", CMATH, ids=lambda function: function.__name__)
    def test_values(self, function):
        """Near Python's."""
        got = operation(function, C128(C128))(np.array(POINTS))
        np.testing.assert_allclose(got, [function(z) for z in POINTS], rtol=1e-13, atol=1e-15)

    def test_log_to_a_base(self):
        """A quotient."""
        got = operation(cmath.log, PAIR)(np.complex128(1 + 2j), np.complex128(3j))
        assert cmath.isclose(complex(got), cmath.log(1 + 2j, 3j))

    def test_tests(self):
        """isnan, isinf, isfinite look at both parts."""
        z = np.array([1j, complex(0, math.inf), complex(math.nan, 0)])
        for function in (cmath.isnan, cmath.isinf, cmath.isfinite):
            got = operation(function, types.boolean(C128))(z)
            assert got.tolist() == [function(value) for value in z.tolist()]


class TestUfuncs:
    """NumPy's functions on scalars, in the loop that Numba chose."""

    FLOATING = {
        np.sin: math.sin,
        np.arctan: math.atan,
        np.sinh: math.sinh,
        np.arccosh: lambda x: math.acosh(x),
        np.log2: math.log2,
        np.deg2rad: math.radians,
        np.degrees: math.degrees,
    }

    @pytest.mark.parametrize("ufunc", FLOATING, ids=lambda ufunc: ufunc.__name__)
    @pytest.mark.parametrize("name", ["float32", "float64"])
    def test_floats(self, ufunc, name):
        """As `math`."""
        kind = getattr(types, name)
        x = np.array([1.5, 2.25], name)
        got = operation(ufunc, kind(kind))(x)
        assert got.dtype == np.dtype(name)
        tolerance = 4 * float(np.finfo(name).eps)
        np.testing.assert_allclose(
            got, [self.FLOATING[ufunc](v) for v in x.tolist()], rtol=tolerance
        )

    def test_small_integers_use_numbas_loop(self):
        """np.sin(int8) is float32 in Numba; NumPy alone would give float16."""
        got = operation(np.sin, types.float32(types.int8))(np.int8(1))
        assert isinstance(got, np.float32)
        assert math.isclose(got, math.sin(1), rel_tol=1e-6)

    def test_two_operands(self):
        """arctan2 and hypot."""
        pair = types.float64(types.float64, types.float64)
        assert operation(np.arctan2, pair)(np.float64(1), np.float64(-1)) == math.atan2(1, -1)
        assert operation(np.hypot, pair)(np.float64(3), np.int64(4)) == 5

    def test_comparison_of_signed_and_unsigned_is_by_value(self):
        """NumPy's qQ loop: -1 is less than 2**64 - 1."""
        compute = operation(np.less, types.boolean(types.int64, types.uint64))
        assert compute(np.array([-1, 5]), np.array([2**64 - 1, 4], np.uint64)).tolist() == [
            True,
            False,
        ]

    def test_logic(self):
        """Truth of both operands, nan being true."""
        compute = operation(np.logical_and, types.boolean(types.float64, types.int64))
        assert compute(np.array([math.nan, 0.0, 2.0]), np.array([1, 1, 0])).tolist() == [
            True,
            False,
            False,
        ]

    def test_extrema(self):
        """maximum keeps nan, fmax drops it; zeros are ordered."""
        pair = types.float64(types.float64, types.float64)
        x, y = np.array([math.nan, 1.0, -0.0]), np.array([1.0, 2.0, 0.0])
        kept, dropped = operation(np.maximum, pair)(x, y), operation(np.fmax, pair)(x, y)
        assert math.isnan(kept[0])
        assert dropped.tolist() == [1.0, 2.0, 0.0]
        assert not np.signbit(kept[2])

    def test_shift_of_int32_stays_int32(self):
        """Everything is shifted out from the width on."""
        compute = operation(np.left_shift, types.int32(types.int32, types.int32))
        got = compute(np.int32(3), np.array([1, 31, 32], np.int32))
        assert got.dtype == np.int32
        assert got.tolist() == [6, -(2**31), 0]

    def test_divide(self):
        """True division."""
        got = operation(np.divide, types.float64(types.float64, types.float64))
        assert got(np.float64(1), np.float64(0)) == math.inf
