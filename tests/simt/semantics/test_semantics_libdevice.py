"""libdevice against Python, by the user's guide's definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import errors, types

from wia_lab.simt import stubs
from wia_lab.simt.semantics import operation

I32, I64, F32, F64 = types.int32, types.int64, types.float32, types.float64
INTS = [0, 1, -1, 5, -6, 2**23, -(2**23) - 1, 2**31 - 1, -(2**31), 12345678]
LONGS = [0, 1, -1, 3, -4, 2**63 - 1, -(2**63), 0x123456789ABCDEF, -(2**62) + 5]


def library(name: str):
    """A stub of libdevice."""
    return getattr(stubs.libdevice, name)


def low(value: int, bits: int) -> int:
    """The signed integer in the low bits of a value."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def bare(value: int, bits: int = 32) -> int:
    """The bits of a signed integer, read as unsigned."""
    return value & ((1 << bits) - 1)


def low24(value: int) -> int:
    """The low 24 bits, signed."""
    return low(value, 24)


def test_mean_rounded_down():
    """hadd and uhadd do not overflow."""
    assert (
        operation(library("hadd"), I32(I32, I32))(np.int32(2**31 - 1), np.int32(2**31 - 1))
        == 2**31 - 1
    )


PAIRS = {
    "hadd": lambda x, y: (x + y) >> 1,
    "rhadd": lambda x, y: (x + y + 1) >> 1,
    "uhadd": lambda x, y: (bare(x) + bare(y)) >> 1,
    "urhadd": lambda x, y: (bare(x) + bare(y) + 1) >> 1,
    "mulhi": lambda x, y: (x * y) >> 32,
    "umulhi": lambda x, y: (bare(x) * bare(y)) >> 32,
    "mul24": lambda x, y: low24(x) * low24(y),
    "umul24": lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF),
    "max": max,
    "min": min,
    "umax": lambda x, y: max(bare(x), bare(y)),
    "umin": lambda x, y: min(bare(x), bare(y)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_integers_of_32_bits(name):
    """Every pair of hostile values, computed with Python's integers."""
    compute = operation(library(name), I32(I32, I32))
    y = np.array(INTS, np.int32)
    for x in INTS:
        got = compute(np.int32(x), y)
        assert got.dtype == np.int32
        assert got.tolist() == [low(PAIRS[name](x, value), 32) for value in INTS]


LONG_PAIRS = {
    "mul64hi": lambda x, y: (x * y) >> 64,
    "umul64hi": lambda x, y: (bare(x, 64) * bare(y, 64)) >> 64,
    "llmax": max,
    "llmin": min,
    "ullmax": lambda x, y: max(bare(x, 64), bare(y, 64)),
    "ullmin": lambda x, y: min(bare(x, 64), bare(y, 64)),
}


@pytest.mark.parametrize("name", LONG_PAIRS)
def test_integers_of_64_bits(name):
    """Every pair of hostile values, computed with Python's integers."""
    compute = operation(library(name), I64(I64, I64))
    y = np.array(LONGS, np.int64)
    for x in LONGS:
        assert compute(np.int64(x), y).tolist() == [
            low(LONG_PAIRS[name](x, value), 64) for value in LONGS
        ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sad", lambda x, y, z: abs(x - y) + z),
        ("usad", lambda x, y, z: abs(bare(x) - bare(y)) + bare(z)),
    ],
)
def test_sum_of_absolute_difference(name, expected):
    """|x - y| + z, wrapped."""
    compute = operation(library(name), I32(I32, I32, I32))
    for x in INTS:
        for y in INTS:
            assert compute(np.int32(x), np.int32(y), np.int32(7)) == low(expected(x, y, 7), 32)


def test_absolute_values():
    """The lowest integer stays."""
    assert operation(library("abs"), I32(I32))(np.int32(-(2**31))) == -(2**31)
    assert operation(library("llabs"), I64(I64))(np.int64(-5)) == 5


UNARY = {
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
    "rcbrt": lambda x: 1 / math.copysign(abs(x) ** (1 / 3), x),
    "exp10": lambda x: 10.0**x,
    "sinpi": lambda x: math.sin(math.pi * math.fmod(x, 2)),
    "cospi": lambda x: math.cos(math.pi * math.fmod(x, 2)),
    "normcdf": lambda x: 0.5 * math.erfc(-x / math.sqrt(2)),
    "rint": lambda x: float(round(x)),
    "nearbyint": lambda x: float(round(x)),
    "tgamma": math.gamma,
    "erfc": math.erfc,
    "fabs": abs,
    "sinh": math.sinh,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    """In both precisions, near Python's value."""
    for suffix, kind, dtype, tolerance in (
        ("", F64, np.float64, 1e-14),
        ("f", F32, np.float32, 1e-6),
    ):
        x = np.array([-2.25, -0.75, 0.3, 1.5, 2.5], dtype)
        got = operation(library(name + suffix), kind(kind))(x)
        assert got.dtype == np.dtype(dtype)
        expected = [UNARY[name](value) for value in x.tolist()]
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_cbrt_of_negative():
    """A real root, as on hardware; `cuda.cbrt` is the same."""
    assert operation(stubs.cbrt, F64(F64))(np.float64(-8)) == -2
    assert operation(stubs.cbrt, F32(F32))(np.float32(-27)) == -3


def test_turns_are_exact():
    """sinpi and cospi have exact zeros and ones."""
    x = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 1e20])
    assert operation(library("sinpi"), F64(F64))(x).tolist() == [0, 1, 0, -1, 0, 0]
    assert operation(library("cospi"), F64(F64))(x).tolist() == [1, 0, -1, 0, 1, 1]
    sine, cosine = operation(library("sincospi"), types.UniTuple(F64, 2)(F64))(x)
    assert sine.tolist() == [0, 1, 0, -1, 0, 0]
    assert cosine.tolist() == [1, 0, -1, 0, 1, 1]
    assert math.isnan(operation(library("sinpi"), F64(F64))(np.float64(math.inf)))


def test_rounding_half_away():
    """C's round, and llround."""
    x = np.array([0.5, 1.5, -2.5, 0.49999999999999994, -0.2, math.inf])
    got = operation(library("round"), F64(F64))(x)
    assert got.tolist() == [1, 2, -3, 0, 0, math.inf]
    assert np.signbit(got[4])
    assert operation(library("llround"), I64(F64))(x[:5]).tolist() == [1, 2, -3, 0, 0]
    assert operation(library("llrint"), I64(F64))(x[:5]).tolist() == [0, 2, -2, 0, 0]


class TestFloatPairs:
    """Functions of two floats."""

    def test_fdim(self):
        """x - y where positive, else 0; nan stays."""
        got = operation(library("fdim"), F64(F64, F64))(
            np.array([3.0, 1.0, math.nan]), np.float64(2)
        )
        assert got[:2].tolist() == [1.0, 0.0]
        assert math.isnan(got[2])

    def test_fmax_drops_nan(self):
        """And orders the zeros."""
        got = operation(library("fmaxf"), F32(F32, F32))(
            np.array([math.nan, -0.0], np.float32), np.float32(0)
        )
        assert got.tolist() == [0.0, 0.0]
        assert not np.signbit(got).any()

    def test_saturate(self):
        """Clamped to 0 … 1; nan becomes 0."""
        x = np.array([-1, 0.25, 7, math.nan], np.float32)
        assert operation(library("saturatef"), F32(F32))(x).tolist() == [0, 0.25, 1, 0]

    def test_fast_quotient_by_a_large_number(self):
        """0 for a divisor above 2**126, as the guide says."""
        compute = operation(library("fast_fdividef"), F32(F32, F32))
        assert compute(np.float32(6), np.float32(3)) == 2
        assert compute(np.float32(1e38), np.float32(2.0**127)) == 0

    def test_remquo(self):
        """The remainder, and the quotient's low bits with its sign."""
        signature = types.Tuple((F64, I32))(F64, F64)
        compute = operation(library("remquo"), signature)
        for x, y in ((17.0, 3.0), (-17.0, 3.0), (5.0, 2.0), (7.0, 2.0), (1.0, 8.0), (100.0, -7.0)):
            rest, quotient = compute(np.float64(x), np.float64(y))
            assert rest == math.remainder(x, y)
            exact = round((x - rest) / y)
            assert abs(int(quotient)) % 8 == abs(exact) % 8
            assert int(quotient) * exact >= 0


class TestConversions:
    """Floats and integers, in each rounding mode."""

    @pytest.mark.parametrize(
        ("mode", "whole"),
        [("rn", round), ("rd", math.floor), ("ru", math.ceil), ("rz", math.trunc)],
    )
    def test_to_integers(self, mode, whole):
        """Whole numbers near the float, clamped; unsigned ones as signed bits."""
        values = [2.5, -2.5, 3.5, 0.4, 3e9, -3e9, 1e20]
        for name, result, bits, lowest in (
            ("int", I32, 32, -(2**31)),
            ("uint", I32, 32, 0),
            ("ll", I64, 64, -(2**63)),
            ("ull", I64, 64, 0),
        ):
            highest = lowest + 2**bits - 1
            for source, kind in (("float", F32), ("double", F64)):
                x = np.array(values, np.dtype(str(kind)))
                got = operation(library(f"{source}2{name}_{mode}"), result(kind))(x)
                expected = [min(max(whole(value), lowest), highest) for value in x.tolist()]
                assert got.tolist() == [low(value, bits) for value in expected]

    def test_unsigned_source(self):
        """uint2float reads the bits as unsigned."""
        assert operation(library("uint2float_rn"), F32(I32))(np.int32(-1)) == 2.0**32
        assert operation(library("ull2double_rz"), F64(I64))(np.int64(-1)) == 2.0**64 - 2048

    def test_half_bits(self):
        """float2half_rn gives the bits of a half, half2float takes them."""
        assert operation(library("float2half_rn"), types.int16(F32))(np.float32(1)) == 0x3C00
        assert operation(library("half2float"), F32(types.int16))(np.int16(0x3C00)) == 1


class TestExponents:
    """logb, ilogb and the tests."""

    def test_logb(self):
        """Exponents of the leading bit, subnormals included."""
        x = np.array([1.0, 0.75, -10.0, 5e-324, 0.0, math.inf])
        assert operation(library("logb"), F64(F64))(x).tolist() == [
            0,
            -1,
            3,
            -1074,
            -math.inf,
            math.inf,
        ]
        got = operation(library("ilogb"), I32(F64))(x)
        assert got.tolist() == [0, -1, 3, -1074, -(2**31), 2**31 - 1]
        assert got.dtype == np.int32

    def test_tests_are_int32(self):
        """0 or 1."""
        x = np.array([-0.0, math.inf, math.nan], np.float32)
        for name, expected in (
            ("isnanf", [0, 0, 1]),
            ("isinff", [0, 1, 0]),
            ("finitef", [1, 0, 0]),
            ("signbitf", [1, 0, 0]),
        ):
            got = operation(library(name), I32(F32))(x)
            assert got.dtype == np.int32
            assert got.tolist() == expected


def test_directed_rounding_is_reached_by_name():
    """1/3 rounded down and up differ in the last bit; the exact third lies between."""
    down = operation(library("fdiv_rd"), F32(F32, F32))(np.float32(1), np.float32(3))
    up = operation(library("fdiv_ru"), F32(F32, F32))(np.float32(1), np.float32(3))
    assert float(down) < 1 / 3 < float(up)
    assert up == np.nextafter(down, np.float32(1))
    assert (
        operation(library("double2float_rz"), F32(F64))(np.float64(1e300))
        == np.finfo(np.float32).max
    )


def test_what_is_missing_is_said():
    """The message names the function and what to do."""
    with pytest.raises(errors.UnsupportedError, match="not compute cuda.libdevice.j0: use"):
        operation(library("j0"), F64(F64))
