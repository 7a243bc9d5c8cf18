"""float16 against exact arithmetic rounded by `struct`, and CUDA's documented nan rules."""

from __future__ import annotations

import math
import operator
import struct

import numpy as np
import pytest
from numba import types

from wia_lab.simt import stubs
from wia_lab.simt.semantics import operation

E = types.float16
PAIR = E(E, E)
VALUES = [0.0, -0.0, 1.0, -1.5, 0.1, 2048.0, 2049.0, 65504.0, 6e-8, -6e-8, 3e-5, 1024.5]


def half(value: float) -> float:
    """The float16 nearest to an exact value: `struct` rounds to even; past the range, infinity."""
    try:
        return struct.unpack("e", struct.pack("e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


@pytest.mark.parametrize(
    ("stub", "operator_", "exact"),
    [
        ("hadd", operator.add, lambda x, y: x + y),
        ("hsub", operator.sub, lambda x, y: x - y),
        ("hmul", operator.mul, lambda x, y: x * y),
    ],
)
def test_arithmetic_is_rounded_once(stub, operator_, exact):
    """Sums and products of halves are exact in float64, so `struct` rounds the exact value."""
    x, y = (
        side.ravel()
        for side in np.meshgrid(np.array(VALUES, np.float16), np.array(VALUES, np.float16))
    )
    for key in (getattr(stubs.fp16, stub), operator_):
        got = operation(key, PAIR)(x, y)
        assert got.dtype == np.float16
        assert got.tolist() == [
            half(exact(a, b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)
        ]


def test_division():
    """Quotients, infinite by zero."""
    x, y = (
        np.array([1.0, 10.0, -1.0, 65504.0], np.float16),
        np.array([3.0, 7.0, 0.0, 0.5], np.float16),
    )
    for key in (stubs.fp16.hdiv, operator.truediv):
        assert operation(key, PAIR)(x, y).tolist() == [
            half(1 / 3),
            half(10 / 7),
            -math.inf,
            math.inf,
        ]


def test_saturating_forms():
    """Clamped to 0 … 1; nan becomes 0."""
    x = np.array([0.75, -0.75, 0.25, math.nan], np.float16)
    assert operation(stubs.fp16.__dict__["__hadd_sat"], PAIR)(x, np.float16(0.5)).tolist() == [
        1.0,
        0.0,
        0.75,
        0.0,
    ]


def test_fma_relu():
    """Negative results become zero."""
    got = operation(stubs.fp16.__dict__["__hfma_relu"], E(E, E, E))
    assert got(np.float16(2), np.array([3.0, -3.0], np.float16), np.float16(1)).tolist() == [
        7.0,
        0.0,
    ]


class TestOrder:
    """Comparisons, minimum and maximum."""

    X = np.array([1.0, 2.0, 2.0, math.nan], np.float16)
    Y = np.array([2.0, 2.0, 1.0, 1.0], np.float16)

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("heq", [False, True, False, False]),
            ("hne", [True, False, True, False]),
            ("hlt", [True, False, False, False]),
            ("hle", [True, True, False, False]),
            ("hgt", [False, False, True, False]),
            ("hge", [False, True, True, False]),
            ("__hequ", [False, True, False, True]),
            ("__hneu", [True, False, True, True]),
            ("__hltu", [True, False, False, True]),
            ("__hgeu", [False, True, True, True]),
        ],
    )
    def test_comparisons(self, name, expected):
        """Ordered forms are false with nan, unordered ones true."""
        got = operation(stubs.fp16.__dict__[name], types.boolean(E, E))(self.X, self.Y)
        assert got.dtype == np.bool_
        assert got.tolist() == expected

    def test_operator_ne_is_unordered(self):
        """cuda_fp16.hpp's operator!= is __hneu."""
        got = operation(operator.ne, types.boolean(E, E))(self.X, self.Y)
        assert got.tolist() == [True, False, True, True]

    def test_hmax_drops_nan(self):
        """hmax and hmin take the other operand; the _nan forms keep nan."""
        x, y = (
            np.array([math.nan, 1.0, 0.0], np.float16),
            np.array([1.0, math.nan, -0.0], np.float16),
        )
        assert operation(stubs.fp16.hmax, PAIR)(x, y).tolist() == [1.0, 1.0, 0.0]
        assert np.signbit(operation(stubs.fp16.hmin, PAIR)(x, y)).tolist() == [False, False, True]
        kept = operation(stubs.fp16.__dict__["__hmax_nan"], PAIR)(x, y)
        assert np.isnan(kept).tolist() == [True, True, False]

    def test_builtin_max_follows_python(self):
        """max of float16 compares, so a leading nan stays."""
        got = operation(max, PAIR)(
            np.array([math.nan, 1.0], np.float16), np.array([1.0, math.nan], np.float16)
        )
        assert np.isnan(got).tolist() == [True, False]


UNARY = {
    "hsin": math.sin,
    "hcos": math.cos,
    "hexp": math.exp,
    "hexp2": lambda x: 2.0**x,
    "hexp10": lambda x: 10.0**x,
    "hlog": math.log,
    "hlog2": math.log2,
    "hlog10": math.log10,
    "hsqrt": math.sqrt,
    "hrsqrt": lambda x: 1 / math.sqrt(x),
    "hrcp": lambda x: 1 / x,
    "htanh": math.tanh,
    "hceil": math.ceil,
    "hfloor": math.floor,
    "htrunc": math.trunc,
    "hrint": round,
}


@pytest.mark.parametrize("name", UNARY)
def test_functions(name):
    """Within one unit in the last place of float16."""
    x = np.array([0.125, 0.5, 1.5, 2.5, 3.75], np.float16)
    got = operation(getattr(stubs.fp16, name), E(E))(x)
    assert got.dtype == np.float16
    for value, result in zip(x.tolist(), got, strict=True):
        expected = half(UNARY[name](value))
        assert abs(float(result) - expected) <= float(np.spacing(np.float16(abs(expected))))


def test_math_functions_take_float16():
    """math.sqrt(float16) is float16."""
    got = operation(math.sqrt, E(E))(np.float16(2))
    assert isinstance(got, np.float16)
    assert got == half(math.sqrt(2))


def test_sign_and_size():
    """hneg and habs flip and clear the sign, of zero too."""
    x = np.array([0.0, -1.0], np.float16)
    assert np.signbit(operation(stubs.fp16.hneg, E(E))(x)).tolist() == [True, False]
    assert operation(stubs.fp16.habs, E(E))(x).tolist() == [0.0, 1.0]
    assert operation(abs, E(E))(x).tolist() == [0.0, 1.0]


class TestConversions:
    """`cuda.fp16`'s own, in each rounding mode."""

    @pytest.mark.parametrize(
        ("mode", "expected"),
        [("rn", [2, 4, -2]), ("rd", [2, 3, -3]), ("ru", [3, 4, -2]), ("rz", [2, 3, -2])],
    )
    def test_to_integer(self, mode, expected):
        """Half to even, down, up, to zero."""
        key = stubs.fp16.__dict__[f"__half2int_{mode}"]
        got = operation(key, types.int32(E))(np.array([2.5, 3.5, -2.5], np.float16))
        assert got.dtype == np.int32
        assert got.tolist() == expected

    def test_saturation(self):
        """To 16 bits and unsigned; nan is 0, but the top bit at 64 bits."""
        x = np.array([65504.0, -1.0, math.inf, math.nan], np.float16)
        short = operation(stubs.fp16.__dict__["__half2short_rz"], types.int16(E))(x)
        assert short.tolist() == [32767, -1, 32767, 0]
        unsigned = operation(stubs.fp16.__dict__["__half2uint_rz"], types.uint32(E))(x)
        assert unsigned.tolist() == [65504, 0, 2**32 - 1, 0]
        long = operation(stubs.fp16.__dict__["__half2ll_rz"], types.int64(E))(x)
        assert long.tolist() == [65504, -1, 2**63 - 1, -(2**63)]

    @pytest.mark.parametrize(
        ("mode", "expected"), [("rn", 2048.0), ("rd", 2048.0), ("ru", 2050.0), ("rz", 2048.0)]
    )
    def test_from_integer(self, mode, expected):
        """2049 lies between two halves."""
        key = stubs.fp16.__dict__[f"__int2half_{mode}"]
        assert operation(key, E(types.int32))(np.int32(2049)) == expected

    def test_bits(self):
        """The same 16 bits as an integer and back."""
        as_short = operation(stubs.fp16.__dict__["__half_as_short"], types.int16(E))
        assert as_short(np.float16(-2.0)) == struct.unpack("h", struct.pack("e", -2.0))[0]
        as_half = operation(stubs.fp16.__dict__["__ushort_as_half"], E(types.uint16))
        assert as_half(np.uint16(0x3C00)) == 1.0

    def test_infinity_test(self):
        """-1, 0 or 1, as an int32."""
        got = operation(stubs.fp16.__dict__["__hisinf"], types.int32(E))
        x = np.array([-math.inf, 5.0, math.inf, math.nan], np.float16)
        assert got(x).tolist() == [-1, 0, 1, 0]
        assert got(x).dtype == np.int32
