"""Integer operators against Python's integers, wrapped to the width by hand."""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np
import pytest
from numba import types

from wia_lab.simt.semantics import operation

I64 = types.int64(types.int64, types.int64)
U64 = types.uint64(types.uint64, types.uint64)
SIGNED = [0, 1, -1, 2, -2, 3, -7, 31, 32, 33, 63, 64, 65, 2**31 - 1, -(2**31), 2**32, 2**53 + 1,
          2**62, -(2**62), 2**63 - 1, -(2**63)]  # fmt: skip
UNSIGNED = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 2**31, 2**32 - 1, 2**53 + 1, 2**63, 2**64 - 1]


def wrap(value: int, bits: int = 64, *, signed: bool = True) -> int:
    """The integer that is left of `value` in so many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def both_ways(key, signature, *columns):
    """Results for lanes, after a check that scalars give the same, as NumPy scalars."""
    compute = operation(key, signature)
    lanes = compute(*(np.array(column) for column in columns))
    for place, scalars in enumerate(zip(*columns, strict=True)):
        alone = compute(*scalars)
        assert isinstance(alone, np.generic)
        assert alone.dtype == lanes.dtype
        assert alone == lanes[place]
    return lanes.tolist()


def pairs(values, dtype):
    """All pairs of values, as two lists of NumPy scalars."""
    return zip(*(map(dtype, pair) for pair in itertools.product(values, repeat=2)), strict=True)


def check_all_pairs(key, signature, values, dtype, expected):
    """Every pair of values gives what `expected` says of Python's integers."""
    left, right = map(list, pairs(values, dtype))
    got = both_ways(key, signature, left, right)
    for x, y, value in zip(left, right, got, strict=True):
        assert value == expected(int(x), int(y)), (int(x), int(y))


RING = [operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor]


class TestRing:
    """Sums, products and bitwise operations keep the low 64 bits."""

    @pytest.mark.parametrize("key", RING, ids=lambda key: key.__name__)
    def test_signed(self, key):
        """int64 wraps in two's complement."""
        check_all_pairs(key, I64, SIGNED, np.int64, lambda x, y: wrap(key(x, y)))

    @pytest.mark.parametrize("key", RING, ids=lambda key: key.__name__)
    def test_unsigned(self, key):
        """uint64 wraps modulo 2**64."""
        check_all_pairs(key, U64, UNSIGNED, np.uint64, lambda x, y: wrap(key(x, y), signed=False))

    def test_operands_of_narrower_variables(self):
        """int32 variables are widened before the sum: 2**31 - 1 + 1 does not wrap."""
        x = np.array([2**31 - 1], np.int32)
        total = operation(operator.add, I64)(x, np.int32(1))
        assert total.dtype == np.int64
        assert total.tolist() == [2**31]

    def test_signed_meets_unsigned(self):
        """uint64 + int64 is computed as int64: -1 + 2**63 keeps its bits."""
        signature = types.int64(types.uint64, types.int64)
        total = operation(operator.add, signature)(np.uint64(2**63), np.int64(-1))
        assert total == 2**63 - 1
        assert total.dtype == np.int64

    def test_booleans_are_numbers(self):
        """bool + bool is an int64."""
        total = operation(operator.add, I64)(np.array([True, True, False]), np.bool_(True))
        assert total.dtype == np.int64
        assert total.tolist() == [2, 2, 1]

    def test_booleans_stay_booleans_in_logic(self):
        """bool & bool is a bool."""
        signature = types.boolean(types.boolean, types.boolean)
        both = operation(operator.and_, signature)(np.array([True, False]), np.bool_(True))
        assert both.dtype == np.bool_
        assert both.tolist() == [True, False]


class TestDivision:
    """Floor division and modulo have Python's signs; by zero both are zero."""

    @pytest.mark.parametrize("key", [operator.floordiv, operator.mod], ids=["floordiv", "mod"])
    def test_signed(self, key):
        """Python's result; 0 by zero, and for the lowest integer by -1."""

        def expected(x, y):
            return 0 if y == 0 or (x, y) == (-(2**63), -1) else key(x, y)

        check_all_pairs(key, I64, SIGNED, np.int64, expected)

    @pytest.mark.parametrize("key", [operator.floordiv, operator.mod], ids=["floordiv", "mod"])
    def test_unsigned(self, key):
        """Python's result; 0 by zero."""
        check_all_pairs(key, U64, UNSIGNED, np.uint64, lambda x, y: key(x, y) if y else 0)

    def test_divmod_is_a_pair(self):
        """`divmod` gives both."""
        signature = types.UniTuple(types.int64, 2)(types.int64, types.int64)
        quotient, rest = operation(divmod, signature)(np.array([-7, 7, 5]), np.array([2, -2, 0]))
        assert quotient.tolist() == [-4, -4, 0]
        assert rest.tolist() == [1, -1, 0]

    def test_true_division_is_float64(self):
        """int / int is float64, infinite by zero, nan for 0 / 0."""
        signature = types.float64(types.int64, types.int64)
        x, y = np.array([7, -7, 0, 2**53 + 1], np.int64), np.array([0, 0, 0, 1], np.int64)
        got = operation(operator.truediv, signature)(x, y)
        assert got.dtype == np.float64
        assert got[:2].tolist() == [math.inf, -math.inf]
        assert math.isnan(got[2])
        assert got[3] == 2.0**53


class TestShifts:
    """PTX shifts by the low 32 bits of the amount, unsigned, and clamps them to the width."""

    def test_left(self):
        """From the width on nothing is left; 2**32 shifts by nothing."""

        def expected(x, y):
            amount = y & 0xFFFFFFFF
            return wrap(x << amount) if amount < 64 else 0

        check_all_pairs(operator.lshift, I64, SIGNED, np.int64, expected)

    def test_right_signed(self):
        """The sign fills; from the width on only it is left."""
        check_all_pairs(
            operator.rshift, I64, SIGNED, np.int64, lambda x, y: x >> min(y & 0xFFFFFFFF, 64)
        )

    def test_right_unsigned(self):
        """Zeros fill."""
        signature = types.uint64(types.uint64, types.int64)
        x = np.full(4, 2**64 - 1, np.uint64)
        amounts = np.array([1, 63, 64, -1], np.int64)
        got = operation(operator.rshift, signature)(x, amounts)
        assert got.tolist() == [2**63 - 1, 1, 0, 0]

    def test_narrow_value_is_widened_first(self):
        """int32(1) << 40 is 2**40."""
        signature = types.int64(types.int32, types.int64)
        assert operation(operator.lshift, signature)(np.int32(1), np.int64(40)) == 2**40


class TestUnary:
    """Negation and inversion act in the operand's own width, then widen."""

    CASES = [
        (operator.neg, types.int64, types.uint32, np.uint32, 1, 2**32 - 1),
        (operator.neg, types.int64, types.int32, np.int32, -(2**31), -(2**31)),
        (operator.invert, types.uint64, types.uint8, np.uint8, 0, 255),
        (operator.invert, types.int64, types.int8, np.int8, 0, -1),
        (operator.neg, types.int64, types.int64, np.int64, -(2**63), -(2**63)),
        (operator.neg, types.int64, types.boolean, np.bool_, True, -1),
        (operator.pos, types.int64, types.boolean, np.bool_, True, 1),
        (operator.invert, types.boolean, types.boolean, np.bool_, True, False),
        (abs, types.int32, types.int32, np.int32, -(2**31), -(2**31)),
        (abs, types.int64, types.int64, np.int64, -5, 5),
        (abs, types.uint8, types.uint8, np.uint8, 200, 200),
    ]

    @pytest.mark.parametrize(("key", "to", "of", "dtype", "value", "expected"), CASES)
    def test_value_and_type(self, key, to, of, dtype, value, expected):
        """Value and dtype are as Numba has them."""
        (got,) = both_ways(key, to(of), [dtype(value)])
        assert got == expected
        assert operation(key, to(of))(dtype(value)).dtype == np.dtype(str(to))


class TestComparison:
    """Comparisons happen in the signature's type."""

    KEYS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]

    @pytest.mark.parametrize("key", KEYS, ids=lambda key: key.__name__)
    def test_signed(self, key):
        """int64 compares by value."""
        check_all_pairs(
            key, types.boolean(types.int64, types.int64), SIGNED, np.int64, lambda x, y: key(x, y)
        )

    @pytest.mark.parametrize("key", KEYS, ids=lambda key: key.__name__)
    def test_unsigned(self, key):
        """uint64 compares by value, above 2**63 too."""
        signature = types.boolean(types.uint64, types.uint64)
        check_all_pairs(key, signature, UNSIGNED, np.uint64, lambda x, y: key(x, y))

    def test_int64_meets_uint64_as_float64(self):
        """Numba compares them as float64, in which 2**63 - 1 equals 2**63."""
        signature = types.boolean(types.float64, types.float64)
        equal = operation(operator.eq, signature)(np.int64(2**63 - 1), np.uint64(2**63))
        assert equal is np.True_ or bool(equal)
        assert isinstance(equal, np.bool_)

    def test_int32_meets_uint32_as_int64(self):
        """-1 is below 2**32 - 1."""
        signature = types.boolean(types.int64, types.int64)
        less = operation(operator.lt, signature)
        assert less(np.array([-1], np.int32), np.array([2**32 - 1], np.uint32)).tolist() == [True]


class TestPower:
    """Integer powers wrap in int64, then pass through float64."""

    @pytest.mark.parametrize("exponent", range(8))
    def test_small(self, exponent):
        """Small powers are exact."""
        bases = np.array([0, 1, -1, 2, -3, 7, 100], np.int64)
        got = operation(operator.pow, I64)(bases, np.int64(exponent))
        assert got.dtype == np.int64
        assert got.tolist() == [int(base) ** exponent for base in bases]

    def test_loses_bits_from_2_to_the_53(self):
        """3 ** 39 is rounded to float64, as the PTX's cvt.rn.f64.s64 does."""
        got = operation(operator.pow, I64)(np.array([3]), np.array([39]))
        assert got.tolist() == [int(float(3**39))]
        assert got.tolist() != [3**39]

    def test_wraps_before(self):
        """2 ** 64 is 0 and 2 ** 63 the lowest integer; 3 ** 41 wraps, then rounds."""
        x, n = np.array([2, 2, 3], np.int64), np.array([64, 63, 41], np.int64)
        got = operation(operator.pow, I64)(x, n).tolist()
        assert got == [0, -(2**63), int(float(wrap(3**41)))]

    def test_negative_exponents(self):
        """0 but for ±1; the lowest integer for 0."""
        bases = np.array([0, 1, -1, -1, 2, -5], np.int64)
        exponents = np.array([-1, -3, -3, -2, -1, -2], np.int64)
        got = operation(operator.pow, I64)(bases, exponents)
        assert got.tolist() == [-(2**63), 1, -1, 1, 0, 0]

    def test_long_exponents_go_to_the_float_power(self):
        """Above 65536 `pow` is called in float64, which saturates; parity of -1 is kept."""
        x = np.array([2, -1, -1, 0, 1], np.int64)
        n = np.array([70000, 65537, 70000, 70000, -(2**63)], np.int64)
        assert operation(operator.pow, I64)(x, n).tolist() == [2**63 - 1, -1, 1, 0, 1]

    def test_exponent_that_differs_a_lane(self):
        """Each lane has its own exponent."""
        got = operation(operator.pow, I64)(np.int64(3), np.arange(6))
        assert got.tolist() == [1, 3, 9, 27, 81, 243]


class TestExtrema:
    """min and max of integers."""

    def test_two(self):
        """The larger and the smaller."""
        x, y = np.array([1, -5, 2**62]), np.array([2, -6, -(2**62)])
        assert operation(max, I64)(x, y).tolist() == [2, -5, 2**62]
        assert operation(min, I64)(x, y).tolist() == [1, -6, -(2**62)]

    def test_many(self):
        """Any number of operands."""
        signature = types.int64(types.int64, types.int64, types.int64)
        assert operation(max, signature)(
            np.array([1, 9]), np.int64(5), np.array([3, 4])
        ).tolist() == [5, 9]
