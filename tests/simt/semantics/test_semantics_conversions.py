"""Conversions against PTX's documented `cvt` and Python's own exact ones."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from numba import types

from wia_lab.simt.semantics import cast, dtype_of, operation

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, 126.9, 127.5, 128.0, 255.9, 256.0, 300.0, -129.0,
          32767.9, 32768.0, 65535.9, 65536.0, -32769.0, 1e9, 2.0**31 - 1, 2.0**31, -(2.0**31) - 1,
          2.0**32, 2.0**53, 2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30, math.inf, -math.inf,
          math.nan]  # fmt: skip


def bounds(name: str) -> tuple[int, int]:
    """Lowest and highest value of an integer type, from its name."""
    bits = int(name.lstrip("uint"))
    return (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def clamp(value: float, name: str, whole) -> int:
    """`value` made whole and clamped to an integer type."""
    low, high = bounds(name)
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(whole(value), low), high)


def truncated(value: float, name: str, *, wide: bool) -> int:
    """What cvt.rzi gives: 8-bit types go through 16 bits; nan is 0, or the top bit when wide."""
    via = {"int8": "int16", "uint8": "uint16"}.get(name, name)
    bits = int(via.lstrip("uint"))
    if math.isnan(value):
        result = 1 << (bits - 1) if wide or bits == 64 else 0
    else:
        result = clamp(value, via, math.trunc)
    low, high = bounds(name)
    size = high - low + 1
    return (result - low) % size + low


def convert(source: str, target: str, values):
    """Lanes through the cast, after a check that scalars give the same."""
    to = cast(getattr(types, source), getattr(types, target))
    lanes = np.array(values, source)
    got = to(lanes)
    assert got.dtype == np.dtype(target)
    for place, lane in enumerate(lanes):
        alone = to(lane)
        assert isinstance(alone, np.generic)
        assert alone.tobytes() == got[place].tobytes()
    return got


class TestFloatToInteger:
    """Truncation that saturates."""

    @pytest.mark.parametrize("target", INTEGERS)
    @pytest.mark.parametrize("source", ["float32", "float64"])
    def test_every_width(self, source, target):
        """Every hostile value, from both floats, to all eight integers."""
        got = convert(source, target, FLOATS).tolist()
        for value, result in zip(FLOATS, got, strict=True):
            exact = float(np.dtype(source).type(value))
            assert result == truncated(exact, target, wide=source == "float64"), value

    def test_300_to_int8_keeps_the_low_byte(self):
        """The PTX converts to 16 bits, then stores 8 of them."""
        assert convert("float32", "int8", [300.0, 1e9]).tolist() == [44, -1]

    @pytest.mark.parametrize("target", INTEGERS)
    def test_half_rounds_to_even(self, target):
        """numba-cuda converts float16 with cvt.rni, and saturates at every width."""
        values = [0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 300.0, -300.0, 65504.0, math.inf, -math.inf]
        got = convert("float16", target, values).tolist()
        assert got == [clamp(value, target, round) for value in values]

    def test_half_nan(self):
        """Zero, and the top bit at 64 bits."""
        assert convert("float16", "int32", [math.nan]).tolist() == [0]
        assert convert("float16", "int64", [math.nan]).tolist() == [-(2**63)]

    @pytest.mark.parametrize("source", ["float16", "float32", "float64"])
    def test_to_bool(self, source):
        """Only zeros are false."""
        assert convert(source, "bool_", [0.0, -0.0, 0.25, math.nan, math.inf]).tolist() == [
            False, False, True, True, True,
        ]  # fmt: skip


class TestIntegers:
    """Integers keep their low bits."""

    @pytest.mark.parametrize("target", INTEGERS)
    @pytest.mark.parametrize("source", INTEGERS)
    def test_wrap(self, source, target):
        """Python's modulo says which value is left."""
        low, high = bounds(source)
        values = [low, low + 1, 0, 1, 127, high // 2 + 1, high - 1, high]
        start, end = bounds(target)
        size = end - start + 1
        assert convert(source, target, values).tolist() == [
            (value - start) % size + start for value in values
        ]

    @pytest.mark.parametrize("target", ["float32", "float64"])
    def test_to_float_rounds_to_even(self, target):
        """`struct` rounds a Python float; int to float is Python's, and both are to even."""
        values = [2**53 + 1, 2**53 + 3, 2**63 - 1, -(2**63), 2**24 + 1, 2**24 + 3, -7]
        got = convert("int64", target, values).tolist()
        if target == "float64":
            assert got == [float(value) for value in values]
        else:
            few = [value for value in values if abs(value) < 2**53]  # exact as Python floats
            code = [struct.unpack("f", struct.pack("f", value))[0] for value in few]
            assert [got[values.index(value)] for value in few] == code
            assert got[2] == 2.0**63

    def test_int64_to_float32_rounds_once(self):
        """2**60 + 2**36 + 1 is above the tie, which float64 would hide."""
        assert convert("int64", "float32", [2**60 + 2**36 + 1]).tolist() == [2.0**60 + 2.0**37]

    def test_bool_to_number(self):
        """One and zero."""
        assert convert("bool_", "float32", [True, False]).tolist() == [1.0, 0.0]
        assert convert("bool_", "int8", [True, False]).tolist() == [1, 0]


class TestFloats:
    """Narrowing rounds to nearest even."""

    def test_to_float32(self):
        """`struct` packs with the same rounding."""
        values = [0.1, 1 + 2.0**-24, 1 + 3 * 2.0**-24, 1e-46, 1e-45, -1e-50, 3.4e38]
        got = convert("float64", "float32", values)
        expected = b"".join(struct.pack("f", value) for value in values)
        assert got.tobytes() == expected
        assert convert("float64", "float32", [1e39, -1e39]).tolist() == [math.inf, -math.inf]

    def test_to_float16_rounds_once(self):
        """A value just above a tie, which float32 would round onto it."""
        value = 1 + 2.0**-11 + 2.0**-40
        got = convert("float64", "float16", [value, 0.1, 65519.9])
        assert got.tobytes() == b"".join(struct.pack("e", each) for each in (value, 0.1, 65504.0))
        assert convert("float64", "float16", [65520.0]).tolist() == [math.inf]

    def test_complex(self):
        """A real becomes the real part; the imaginary part is zero."""
        assert convert("int64", "complex64", [3]).tolist() == [3 + 0j]
        assert convert("complex64", "complex128", [1 + 2j]).tolist() == [1 + 2j]


class TestConstructors:
    """Number types called with a value convert it."""

    @pytest.mark.parametrize("key", [types.float32, np.float32])
    def test_float32(self, key):
        """From Numba and from NumPy."""
        got = operation(key, types.float32(types.int64))(np.array([2**24 + 1]))
        assert got.dtype == np.float32
        assert got.tolist() == [2.0**24]

    def test_every_number_type_is_a_key(self):
        """Each, from Numba and NumPy, by its own name."""
        for name in [*INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]:
            for key in (getattr(types, name), getattr(np, name)):
                to = getattr(types, name)
                got = operation(key, to(types.int8))(np.int8(7))
                assert got.dtype == np.dtype(name)
                assert got == 7

    def test_int_and_float(self):
        """Python's own are int64 and float64."""
        assert operation(int, types.int64(types.float32))(np.float32(-2.75)) == -2
        assert operation(float, types.float64(types.int32))(np.int32(3)).dtype == np.float64

    def test_complex_of_parts(self):
        """complex(re, im) keeps an infinite part apart from the other."""
        signature = types.complex128(types.float64, types.float64)
        z = operation(complex, signature)(np.float64(1), np.float64(math.inf))
        assert isinstance(z, np.complex128)
        assert (z.real, z.imag) == (1.0, math.inf)


class TestDtype:
    """`dtype_of`."""

    def test_literals_and_records(self):
        """A literal has its type's dtype, a record its own."""
        assert dtype_of(types.literal(3)) == np.int64
        record = np.dtype([("x", np.float32), ("n", np.int16)])
        from numba import from_dtype

        assert dtype_of(from_dtype(record)) == record

    def test_others_are_refused(self):
        """The message names the type."""
        from numba import errors

        with pytest.raises(errors.UnsupportedError, match="a value of type none is not a number"):
            dtype_of(types.none)
