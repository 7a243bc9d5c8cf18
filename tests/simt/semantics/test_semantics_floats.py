"""Float operators: IEEE 754, and what numba-cuda's PTX does where it departs from it."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import numpy as np
import pytest
from numba import types

from wia_lab.simt.semantics import operation

F32 = types.float32(types.float32, types.float32)
F64 = types.float64(types.float64, types.float64)
HOSTILE = [0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 3.0, 1e300, -1e300, 5e-324, -5e-324, 2.0**63,
           math.inf, -math.inf, math.nan]  # fmt: skip


def same(got, expected) -> bool:
    """Equal bit for bit, any nan being as good as another."""
    got, expected = float(got), float(expected)
    if math.isnan(expected):
        return math.isnan(got)
    return got == expected and math.copysign(1, got) == math.copysign(1, expected)


class TestTypes:
    """A result has its signature's type, whatever the operands' variables are."""

    def test_float32_stays(self):
        """float32 + float32 is rounded to 24 bits."""
        total = operation(operator.add, F32)(np.float32(16777216), np.float32(1))
        assert total.dtype == np.float32
        assert total == 16777216

    @pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.float16])
    def test_narrow_operands_become_float32(self, dtype):
        """What Numba converts to float32 is converted before the sum."""
        total = operation(operator.add, F32)(np.array([1], dtype), np.array([1], dtype))
        assert total.dtype == np.float32
        assert total.tolist() == [2.0]

    def test_float32_times_int_is_float64(self):
        """float32 * int64 is computed in float64."""
        product = operation(operator.mul, F64)(np.array([0.1], np.float32), np.int64(3))
        assert product.dtype == np.float64
        assert product[0] == float(np.float32(0.1)) * 3

    def test_known_operands_leave_the_bare_ufunc(self):
        """With the operands' types given, nothing stands before NumPy's function."""
        bare = operation(operator.add, F32, (types.float32, types.float32))
        assert bare is np.add

    def test_known_operands_are_still_converted(self):
        """int32 + int32 with known types is int64."""
        signature = types.int64(types.int64, types.int64)
        add = operation(operator.add, signature, (types.int32, types.int32))
        total = add(np.array([2**31 - 1], np.int32), np.array([1], np.int32))
        assert total.tolist() == [2**31]


class TestModulo:
    """x % y is |x| - floor(|x| / |y|) * |y| with CPython's signs, product and difference fused."""

    def test_python_signs(self):
        """Small quotients agree with Python."""
        x, y = (
            np.array([7.5, -7.5, 7.5, -7.5, 6.0, -6.0]),
            np.array([2.0, 2.0, -2.0, -2.0, 3.0, 3.0]),
        )
        for key in (operator.mod, operator.floordiv):
            got = operation(key, F64)(x, y)
            assert all(
                same(a, key(b, c)) for a, b, c in zip(got, x.tolist(), y.tolist(), strict=True)
            )

    def test_one_by_a_tenth(self):
        """The rounded quotient is 10, the fused remainder negative: Python's answer comes out."""
        assert operation(operator.mod, F64)(np.float64(1), np.float64(0.1)) == 1 % 0.1
        assert operation(operator.floordiv, F64)(np.float64(1), np.float64(0.1)) == 1 // 0.1

    def test_by_zero(self):
        """nan for %; the true quotient for //."""
        x, y = np.array([1.0, -1.0, 0.0]), np.array([0.0, 0.0, 0.0])
        assert np.isnan(operation(operator.mod, F64)(x, y)).all()
        whole = operation(operator.floordiv, F64)(x, y)
        assert whole[:2].tolist() == [math.inf, -math.inf]
        assert math.isnan(whole[2])

    def test_infinite_divisor_is_nan(self):
        """0 * inf in the PTX; C's fmod would give x."""
        assert math.isnan(operation(operator.mod, F32)(np.float32(5), np.float32(np.inf)))

    def test_zero_remainder_has_the_divisor_sign(self):
        """6 % -3 is -0."""
        assert same(operation(operator.mod, F64)(np.float64(6), np.float64(-3)), -0.0)

    def test_float32_random(self):
        """Quotients below 2**24 agree with exact arithmetic."""
        random = np.random.default_rng(3)
        x = random.uniform(-100, 100, 500).astype(np.float32)
        y = random.uniform(0.5, 9, 500).astype(np.float32)
        rest, whole = operation(operator.mod, F32)(x, y), operation(operator.floordiv, F32)(x, y)
        assert rest.dtype == whole.dtype == np.float32
        for a, b, r, q in zip(x, y, rest, whole, strict=True):
            exact = Fraction(float(a)) % Fraction(float(b))
            assert abs(float(r) - float(exact)) <= float(np.spacing(np.float32(b)))
            assert q == Fraction(float(a)) // Fraction(float(b))


class TestExtrema:
    """PTX min and max for two floats; Python's algorithm elsewhere."""

    def test_nan_loses(self):
        """The other operand is taken."""
        x, y = (
            np.array([math.nan, 1.0, math.nan], np.float32),
            np.array([2.0, math.nan, math.nan], np.float32),
        )
        for key in (max, min):
            got = operation(key, F32)(x, y)
            assert got[:2].tolist() == [2.0, 1.0]
            assert math.isnan(got[2])

    def test_zeros_are_ordered(self):
        """+0 is above -0."""
        x, y = np.array([0.0, -0.0, -0.0, 1.0]), np.array([-0.0, 0.0, -0.0, -1.0])
        assert np.signbit(operation(max, F64)(x, y)).tolist() == [False, False, True, False]
        assert np.signbit(operation(min, F64)(x, y)).tolist() == [True, True, True, True]

    def test_a_zero_that_meets_nan_keeps_its_sign(self):
        """So it was on an H200; and max(x, 0.0) of -0 is +0, of nan 0."""
        x = np.array([-0.0, math.nan, 1.0])
        assert np.signbit(operation(max, F64)(x, np.float64(math.nan))[0])
        assert np.signbit(operation(max, F64)(np.float64(-0.0), np.array([-5.0, math.nan]))).all()
        rectified = operation(max, F64)(x, np.float64(0))
        assert not np.signbit(rectified).any()
        assert rectified.tolist() == [0.0, 0.0, 1.0]

    def test_float_and_int_follow_python(self):
        """A leading nan stays, since nothing compares above it."""
        signature = types.float64(types.float32, types.int64)
        got = operation(max, signature)(np.array([math.nan, 3.5], np.float32), np.int64(1))
        assert math.isnan(got[0])
        assert got[1] == 3.5
        assert got.dtype == np.float64

    def test_three_floats_follow_python(self):
        """max(1.5, nan, 2.5) is 2.5; max(nan, 1, 2) is nan."""
        signature = types.float64(*[types.float64] * 3)
        compute = operation(max, signature)
        assert compute(np.float64(1.5), np.float64(math.nan), np.float64(2.5)) == 2.5
        assert math.isnan(compute(np.float64(math.nan), np.float64(1), np.float64(2)))


class TestPower:
    """Integer exponents multiply; float ones call pow."""

    def test_square_is_one_product(self):
        """x ** 2 is rounded once, in float32."""
        x = np.array([0.1, 3.3], np.float32)
        got = operation(operator.pow, types.float32(types.float32, types.int64))(x, np.int64(2))
        assert got.dtype == np.float32
        assert got.tolist() == (x * x).tolist()

    def test_negative_exponent_inverts(self):
        """x ** -2 is 1 / (x * x); 0 ** -1 is inf."""
        signature = types.float64(types.float64, types.int64)
        got = operation(operator.pow, signature)(np.array([3.0, 0.0]), np.array([-2, -1]))
        assert got.tolist() == [1 / 9.0, math.inf]

    def test_zeroth_power_is_one(self):
        """Of nan too."""
        signature = types.float64(types.float64, types.int64)
        got = operation(operator.pow, signature)(np.array([math.nan, 0.0, 5.0]), np.int64(0))
        assert got.tolist() == [1.0, 1.0, 1.0]

    def test_float_exponent(self):
        """sqrt by power, nan for a negative base."""
        got = operation(operator.pow, F64)(np.array([2.0, -2.0, 0.0]), np.float64(0.5))
        assert got[0] == 2**0.5
        assert math.isnan(got[1])
        assert got[2] == 0.0

    def test_long_exponent(self):
        """Above 65536 it is C's pow."""
        signature = types.float64(types.float64, types.int64)
        got = operation(operator.pow, signature)(np.array([1.00001, 0.5]), np.int64(-70000))
        assert got[0] == math.pow(1.00001, -70000)
        assert got[1] == math.inf


class TestComparison:
    """Nothing is ordered with nan."""

    KEYS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]

    @pytest.mark.parametrize("key", KEYS, ids=lambda key: key.__name__)
    def test_as_python(self, key):
        """Python's floats compare the same way."""
        compute = operation(key, types.boolean(types.float64, types.float64))
        for x in HOSTILE:
            got = compute(np.float64(x), np.array(HOSTILE))
            assert got.tolist() == [key(x, y) for y in HOSTILE]


class TestTruth:
    """nan is true, both zeros are false."""

    def test_not(self):
        """`not x`."""
        got = operation(operator.not_, types.boolean(types.float64))(np.array(HOSTILE))
        assert got.tolist() == [not x for x in HOSTILE]

    def test_bool(self):
        """`bool(x)`."""
        got = operation(bool, types.boolean(types.float32))(
            np.array([0.0, -0.0, math.nan, 1e-45], np.float32)
        )
        assert got.dtype == np.bool_
        assert got.tolist() == [False, False, True, True]
