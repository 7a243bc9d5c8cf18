"""Numbers, tuples, records and arrays in kernels, against NumPy and plain Python."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import from_dtype

from wia_lab import cuda, simulate

Pair = namedtuple("Pair", ("left", "right"))
POINT = np.dtype([("x", np.float32), ("y", np.float32), ("n", np.int32)], align=True)
NESTED = np.dtype(
    [("p", POINT), ("v", np.float32, (3,)), ("m", np.int16, (2, 2)), ("k", np.int8)], align=True
)
POINT_TYPE = from_dtype(POINT)
TABLE = np.arange(12, dtype=np.int32).reshape(3, 4)
SCALE = np.float32(1.5)


def clean(kernel, grid, block, *arguments, **options):
    """Simulate, and insist on no hazard at all."""
    report = simulate(kernel, grid, block, *arguments, **options)
    assert [str(each) for each in report.hazards] == []
    return report


class TestIntegers:
    """Promotion as Numba does it, and wrap-around at the array."""

    @pytest.mark.parametrize(
        "dtype",
        [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64],
    )
    def test_stores_wrap(self, dtype) -> None:
        def kernel(out, a, b):
            i = cuda.grid(1)
            out[0, i] = a[i] + b[i]
            out[1, i] = a[i] - b[i]
            out[2, i] = a[i] * b[i]
            out[3, i] = ~a[i]
            out[4, i] = a[i] ^ b[i]
            out[5, i] = -a[i]

        info = np.iinfo(dtype)
        a = np.array([info.max, info.min, 100, 0, 7, info.max], dtype)
        b = np.array([1, info.max, 100, info.max, 3, info.max], dtype)
        out = np.zeros((6, 6), dtype)
        clean(kernel, 1, 6, out, a, b)
        with np.errstate(over="ignore"):
            expected = [a + b, a - b, a * b, ~a, a ^ b, -a]
        np.testing.assert_array_equal(out, np.array(expected, dtype))

    def test_small_integers_compute_in_int64(self) -> None:
        def kernel(out, a):
            out[0] = a[0] + a[1]

        out = np.zeros(1, np.int64)
        clean(kernel, 1, 1, out, np.array([120, 120], np.int8))
        assert out[0] == 240

    def test_uint64_beside_int64_is_int64(self) -> None:
        def kernel(out, a, b):
            out[0] = a[0] + b[0]

        out = np.zeros(1, np.float64)
        clean(kernel, 1, 1, out, np.array([2**63 + 4097], np.uint64), np.array([-1], np.int64))
        assert out[0] == float(4096 - 2**63)

    def test_constructors_wrap(self) -> None:
        def kernel(out, n):
            out[0] = np.int8(n)
            out[1] = np.uint8(n)
            out[2] = np.int16(n * 300)
            out[3] = np.uint32(-n)
            out[4] = np.int32(3.99)
            out[5] = np.int64(np.float32(-3.99))

        out = np.zeros(6, np.int64)
        clean(kernel, 1, 1, out, 200)
        assert out.tolist() == [-56, 200, 60000 - 65536, 2**32 - 200, 3, -3]

    def test_shifts_floors_and_powers(self) -> None:
        def kernel(out, a, b):
            i = cuda.grid(1)
            out[0, i] = a[i] // b[i]
            out[1, i] = a[i] % b[i]
            out[2, i] = a[i] << 3
            out[3, i] = a[i] >> 1
            out[4, i] = a[i] ** 3
            out[5, i] = abs(a[i])

        a = np.array([7, -7, 7, -7, 0, 123456], np.int64)
        b = np.array([2, 2, -2, -2, 5, -1000], np.int64)
        out = np.zeros((6, 6), np.int64)
        clean(kernel, 1, 6, out, a, b)
        expected = [
            [int(x) // int(y) for x, y in zip(a, b, strict=True)],
            [int(x) % int(y) for x, y in zip(a, b, strict=True)],
            [int(x) << 3 for x in a],
            [int(x) >> 1 for x in a],
            [int(x) ** 3 for x in a],
            [abs(int(x)) for x in a],
        ]
        assert out.tolist() == expected

    def test_divmod_round_int_bool(self) -> None:
        def kernel(out, a):
            q, r = divmod(a[0], 3)
            out[0] = q
            out[1] = r
            out[2] = round(2.5)
            out[3] = int(-2.7)
            out[4] = bool(a[0])
            out[5] = min(a[0], 4, 9) + max(a[0], 4, 9)
            out[6] = True + True

        out = np.zeros(7, np.int64)
        clean(kernel, 1, 1, out, np.array([-7], np.int64))
        assert out.tolist() == [-3, 2, 2, -2, 1, 2, 2]


class TestFloats:
    """float16 to float64, complex."""

    def test_float16(self) -> None:
        def kernel(out, a, b):
            i = cuda.grid(1)
            out[0, i] = a[i] + b[i]
            out[1, i] = a[i] * b[i]
            out[2, i] = cuda.fp16.hsub(a[i], b[i])
            out[3, i] = cuda.fp16.hfma(a[i], b[i], a[i])
            out[4, i] = a[i] if a[i] < b[i] else b[i]

        a = np.array([1.5, 65000, -0.25, 3e-5], np.float16)
        b = np.array([0.1, 1000, 4, 3e-5], np.float16)
        out = np.zeros((5, 4), np.float16)
        clean(kernel, 1, 4, out, a, b)
        with np.errstate(over="ignore"):
            fused = (a.astype(np.float64) * b + a).astype(np.float16)
            expected = np.array([a + b, a * b, a - b, fused, np.minimum(a, b)], np.float16)
        np.testing.assert_array_equal(out, expected)

    def test_complex(self) -> None:
        def kernel(out, a, b):
            i = cuda.grid(1)
            z = a[i] * b[i] + complex(1.0, -2.0)
            out[0, i] = z
            out[1, i] = z.conjugate()
            out[2, i] = complex(z.imag, z.real)
            out[3, i] = a[i] / b[i]
            out[4, i] = abs(a[i])

        a = np.array([1 + 2j, -3.5j, 0.25], np.complex128)
        b = np.array([2 - 1j, 1 + 1j, 4j], np.complex128)
        out = np.zeros((5, 3), np.complex128)
        clean(kernel, 1, 3, out, a, b)
        z = a * b + (1 - 2j)
        expected = [z, z.conj(), z.imag + 1j * z.real, a / b, abs(a)]
        np.testing.assert_allclose(out, expected, rtol=1e-15)

    def test_complex_parts_of_an_array(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            out[i] = a.real[i] - a.imag[i]

        a = (np.arange(6) + 1j * np.arange(6)[::-1]).astype(np.complex64)
        out = np.zeros(6, np.float32)
        clean(kernel, 1, 6, out, a)
        assert out.tolist() == (a.real - a.imag).tolist()

    def test_special_values(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            out[0, i] = math.isnan(a[i])
            out[1, i] = math.isinf(a[i])
            out[2, i] = math.isfinite(a[i])
            out[3, i] = a[i] == a[i]
            out[4, i] = not a[i]

        a = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])
        out = np.zeros((5, 6), np.int32)
        clean(kernel, 1, 6, out, a)
        expected = [np.isnan(a), np.isinf(a), np.isfinite(a), a == a, [not x for x in a]]
        assert out.tolist() == np.array(expected, np.int32).tolist()


FUNCTIONS = {
    name: getattr(math, name)
    for name in (
        "sin cos tan asin acos atan sinh cosh tanh asinh atanh exp expm1 log1p sqrt erf erfc "
        "gamma lgamma fabs degrees radians ceil floor trunc"
    ).split()
}


class TestFunctions:
    """math, NumPy scalars and ufuncs, libdevice, and what cuda itself has."""

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_math(self, name) -> None:
        function = FUNCTIONS[name]

        def kernel(out, a):
            i = cuda.grid(1)
            out[i] = function(a[i])

        a = np.array([0.1, 0.35, 0.5, 0.75, 0.99])
        out = np.zeros(5)
        clean(kernel, 1, 5, out, a)
        np.testing.assert_allclose(out, [function(x) for x in a], rtol=1e-13)

    def test_math_of_two(self) -> None:
        def kernel(out, a, b):
            i = cuda.grid(1)
            out[0, i] = math.atan2(a[i], b[i])
            out[1, i] = math.hypot(a[i], b[i])
            out[2, i] = math.copysign(a[i], b[i])
            out[3, i] = math.fmod(a[i], b[i])
            out[4, i] = math.pow(abs(a[i]), b[i])
            out[5, i] = math.ldexp(a[i], 3)
            out[6, i] = math.log(abs(a[i])) + math.log2(abs(a[i])) + math.log10(abs(a[i]))
            whole, exponent = math.frexp(a[i])
            out[7, i] = whole * 10 + exponent
            part, integer = math.modf(a[i])
            out[8, i] = part + 2 * integer

        a, b = np.array([3.7, -2.5, 0.3]), np.array([-1.2, 4.5, 2.0])
        out = np.zeros((9, 3))
        clean(kernel, 1, 3, out, a, b)
        pairs = list(zip(a, b, strict=True))
        expected = [
            [math.atan2(x, y) for x, y in pairs],
            [math.hypot(x, y) for x, y in pairs],
            [math.copysign(x, y) for x, y in pairs],
            [math.fmod(x, y) for x, y in pairs],
            [math.pow(abs(x), y) for x, y in pairs],
            [math.ldexp(x, 3) for x in a],
            [math.log(abs(x)) + math.log2(abs(x)) + math.log10(abs(x)) for x in a],
            [math.frexp(x)[0] * 10 + math.frexp(x)[1] for x in a],
            [math.modf(x)[0] + 2 * math.modf(x)[1] for x in a],
        ]
        np.testing.assert_allclose(out, expected, rtol=1e-13)

    def test_numpy_ufuncs_and_scalars(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            out[0, i] = np.sin(a[i])
            out[1, i] = np.cos(a[i])
            out[2, i] = np.log2(a[i])
            out[3, i] = np.float32(a[i])
            out[4, i] = np.tanh(a[i]) * np.pi

        a = np.array([0.5, 1.25, 3.0])
        out = np.zeros((5, 3))
        clean(kernel, 1, 3, out, a)
        expected = [np.sin(a), np.cos(a), np.log2(a), a.astype(np.float32), np.tanh(a) * np.pi]
        np.testing.assert_allclose(out, expected, rtol=1e-14)

    def test_libdevice(self) -> None:
        from numba.cuda import libdevice

        def kernel(out, a):
            i = cuda.grid(1)
            out[0, i] = libdevice.rsqrt(a[i])
            out[1, i] = libdevice.fmax(a[i], 2.0)
            s, c = libdevice.sincos(a[i])
            out[2, i] = s + 2 * c
            out[3, i] = libdevice.exp10(a[i])

        a = np.array([0.5, 1.25, 3.0])
        out = np.zeros((4, 3))
        clean(kernel, 1, 3, out, a)
        expected = [a**-0.5, np.maximum(a, 2), np.sin(a) + 2 * np.cos(a), 10.0**a]
        np.testing.assert_allclose(out, expected, rtol=1e-13)

    def test_bits(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            out[0, i] = cuda.popc(a[i])
            out[1, i] = cuda.clz(a[i])
            out[2, i] = cuda.ffs(a[i])
            out[3, i] = cuda.brev(a[i])
            out[4, i] = cuda.selp(a[i] & 1, 10, 20)

        a = np.array([0, 1, 0x80000000, 0xF0F0, 0xFFFFFFFF], np.uint32)
        out = np.zeros((5, 5), np.int64)
        clean(kernel, 1, 5, out, a)
        words = [f"{int(x):032b}" for x in a]
        assert out.tolist() == [
            [w.count("1") for w in words],
            [len(w) - len(w.lstrip("0")) for w in words],
            [w[::-1].find("1") + 1 for w in words],
            [int(w[::-1], 2) for w in words],
            [10 if x & 1 else 20 for x in a],
        ]

    def test_fma_and_cbrt(self) -> None:
        def kernel(out, a):
            out[0] = cuda.fma(a[0], a[0], -1.0)
            out[1] = cuda.cbrt(a[1])

        a = np.array([1 + 2.0**-30, -27.0])
        out = np.zeros(2)
        clean(kernel, 1, 1, out, a)
        assert out[0] == 2.0**-29 + 2.0**-60
        assert out[1] == pytest.approx(-3, rel=1e-15)
