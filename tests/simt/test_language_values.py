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


class TestTuples:
    """Tuples and named tuples, as arguments and made in the kernel."""

    def test_argument(self) -> None:
        def kernel(out, parts):
            a, factor, (x, y) = parts
            i = cuda.grid(1)
            out[i] = a[i] * factor + x * len(parts) - y

        a = np.arange(5)
        out = np.zeros(5, np.int64)
        clean(kernel, 1, 5, out, (a, 3, (10, 1)))
        assert out.tolist() == [3 * x + 29 for x in range(5)]

    def test_indexed_by_a_variable(self) -> None:
        def kernel(out, parts):
            i = cuda.grid(1)
            out[i] = parts[i % 3] + parts[-1]

        out = np.zeros(5, np.int64)
        clean(kernel, 1, 5, out, (10, 20, 30))
        assert out.tolist() == [40, 50, 60, 40, 50]

    def test_named(self) -> None:
        def kernel(out, pair):
            i = cuda.grid(1)
            made = Pair(pair.right, i)
            out[i] = made.left[i] + made.right + pair.left + made[1]

        out = np.zeros(4, np.int64)
        clean(kernel, 1, 4, out, Pair(100, np.arange(4)))
        assert out.tolist() == [100 + 3 * i for i in range(4)]

    def test_compared_joined_searched(self) -> None:
        def kernel(out, n):
            i = cuda.grid(1)
            t = (i, n) + (3,)
            out[0, i] = t[2] + len(t)
            out[1, i] = (i, 2) < (2, n)
            out[2, i] = (i, 2) == (1, 2)
            out[3, i] = i in (1, 3)

        out = np.zeros((4, 4), np.int64)
        clean(kernel, 1, 4, out, 5)
        assert out.tolist() == [
            [6] * 4,
            [int((i, 2) < (2, 5)) for i in range(4)],
            [0, 1, 0, 0],
            [0, 1, 0, 1],
        ]

    def test_shape_unpacked(self) -> None:
        def kernel(out, a):
            rows, columns = a.shape
            out[0], out[1] = columns, rows
            out[0], out[1] = out[1], out[0]

        out = np.zeros(2, np.int64)
        clean(kernel, 1, 1, out, np.zeros((3, 7)))
        assert out.tolist() == [3, 7]


class TestRecords:
    """Structured arrays: fields by attribute and by name, nested records and arrays."""

    def test_fields(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            p = a[i]
            p.n = i
            a[i].y = p.x * np.float32(2)
            p["x"] = np.float32(-1)
            out[i] = a[i]["y"] + a.n[i] + a["x"][i]

        a = np.zeros(6, POINT)
        a["x"] = np.arange(6) + 0.5
        expected = (np.arange(6) + 0.5) * 2 + np.arange(6) - 1
        out = np.zeros(6, np.float32)
        simulate(kernel, 1, 6, out, a)
        assert out.tolist() == expected.tolist()
        assert a["x"].tolist() == [-1] * 6
        assert a["n"].tolist() == list(range(6))

    def test_nested(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            r = a[i]
            r.v[i % 3] = np.float32(9)
            r.m[1, i % 2] = 5
            total = np.float32(0)
            for j in range(3):
                total += r.v[j]
            out[i] = total + r.p.x
            a[i].k = r.m[1, 0] + r.m[1, 1]

        a = np.zeros(4, NESTED)
        a["v"] = np.arange(12).reshape(4, 3)
        a["p"]["x"] = np.arange(4) * 100
        v = a["v"].copy()
        v[np.arange(4), np.arange(4) % 3] = 9
        expected = v.sum(axis=1) + a["p"]["x"]
        out = np.zeros(4, np.float32)
        clean(kernel, 1, 4, out, a)
        assert out.tolist() == expected.tolist()
        assert a["k"].tolist() == [5] * 4
        np.testing.assert_array_equal(a["v"], v)

    def test_copied_and_in_shared_memory(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            tile = cuda.shared.array(8, POINT_TYPE)
            tile[i] = a[i]
            cuda.syncthreads()
            out[i] = tile[7 - i]

        a = np.zeros(8, POINT)
        a["x"], a["n"] = np.arange(8), np.arange(8) ** 2
        out = np.zeros(8, POINT)
        clean(kernel, 1, 8, out, a)
        np.testing.assert_array_equal(out, a[::-1])

    def test_record_argument(self) -> None:
        def kernel(out, r):
            i = cuda.grid(1)
            out[i] = r.x * i + r.n

        record = np.array([(1.5, 0, 4)], POINT)[0]
        out = np.zeros(4, np.float32)
        simulate(kernel, 1, 4, out, record)
        assert out.tolist() == [4, 5.5, 7, 8.5]


class TestArrays:
    """Views, slices, attributes, iteration, layouts."""

    def test_attributes(self) -> None:
        def kernel(out, a):
            out[0] = a.ndim
            out[1] = a.size
            out[2] = a.itemsize
            out[3] = a.nbytes
            out[4] = a.shape[1]
            out[5] = a.strides[0]
            out[6] = len(a)
            out[7] = a.T[2, 1]

        a = np.arange(12, dtype=np.int32).reshape(3, 4)
        out = np.zeros(8, np.int64)
        clean(kernel, 1, 1, out, a)
        assert out.tolist() == [2, 12, 4, 48, 4, 16, 3, a.T[2, 1]]

    def test_slices_of_each_thread(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            row = a[i]
            part = a[i, i : i + 3]
            back = a[i, ::-1]
            out[i, 0] = row[0] + row.size
            out[i, 1] = part[2] + len(part)
            out[i, 2] = back[1]
            out[i, 3] = a[..., 2][i]
            out[i, 4] = a[i : i + 1, -2][0]

        a = np.arange(24, dtype=np.int64).reshape(4, 6)
        out = np.zeros((4, 5), np.int64)
        simulate(kernel, 1, 4, out, a)
        expected = [
            [a[i, 0] + 6, a[i, i + 2] + 3, a[i, ::-1][1], a[i, 2], a[i, -2]] for i in range(4)
        ]
        assert out.tolist() == np.array(expected).tolist()

    def test_fill_and_assigned_slices(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            out[i].fill(7)
            out[i, 2:4] = 9
            part = out[i, 4:]
            part[0] = a[i, 0]
            part[-1] = a[i, 1]

        a = np.arange(6, dtype=np.int64).reshape(3, 2)
        out = np.zeros((3, 6), np.int64)
        simulate(kernel, 1, 3, out, a)
        assert out.tolist() == [[7, 7, 9, 9, *row] for row in a.tolist()]

    def test_iteration(self) -> None:
        def kernel(out, a, parts):
            i = cuda.grid(1)
            total = 0
            for x in a[i]:
                total += x
            for n, x in enumerate(a[i]):
                total += n * x
            for n, x in enumerate(parts, 2):
                total += n * x
            for x, y in zip(a[i], a[0]):  # noqa: B905
                total += x * y
            for row in a:
                total += row[i % row.size]
            out[i] = total

        a = np.arange(12, dtype=np.int64).reshape(4, 3)
        out = np.zeros(4, np.int64)
        clean(kernel, 1, 4, out, a, (5, 6))
        expected = [
            a[i].sum()
            + (np.arange(3) * a[i]).sum()
            + 2 * 5
            + 3 * 6
            + a[i] @ a[0]
            + a[:, i % 3].sum()
            for i in range(4)
        ]
        assert out.tolist() == [int(each) for each in expected]

    @pytest.mark.parametrize(
        "array",
        [
            np.arange(24.0).reshape(4, 6),
            np.asfortranarray(np.arange(24.0).reshape(4, 6)),
            np.arange(96.0).reshape(8, 12)[::2, ::2],
            np.arange(24.0).reshape(4, 6)[::-1, ::-1],
        ],
        ids=["C", "Fortran", "strided", "reversed"],
    )
    def test_layouts(self, array) -> None:
        def kernel(out, a):
            column, row = cuda.grid(2)
            if row < a.shape[0] and column < a.shape[1]:
                out[row, column] = a[row, column] * 2
                a[row, column] = -1

        expected = array * 2
        array = array.copy(order="K") if array.flags.forc else array
        out = np.zeros((4, 6))
        clean(kernel, (2, 2), (4, 4), out, array)
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(array, -np.ones((4, 6)))

    def test_empty_and_zero_dimensional(self) -> None:
        def kernel(out, empty, scalar):
            total = 0.0
            for x in empty:
                total += x
            out[()] = total + scalar[()] + empty.size + len(empty[:5])

        out = np.zeros(())
        clean(kernel, 1, 1, out, np.zeros(0), np.array(2.5))
        assert out == 2.5

    def test_readonly(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            out[i] = a[i]

        a = np.arange(4)
        a.setflags(write=False)
        out = np.zeros(4, np.int64)
        clean(kernel, 1, 4, out, a)
        assert out.tolist() == [0, 1, 2, 3]

    def test_view_and_reshape(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            bits = a.view(np.uint32)
            square = a.reshape(2, 2)
            out[i, 0] = bits[i]
            out[i, 1] = square[i // 2, i % 2]

        a = np.array([1.0, -2.0, 0.5, 3.0], np.float32)
        out = np.zeros((4, 2), np.int64)
        clean(kernel, 1, 4, out, a)
        assert out[:, 0].tolist() == a.view(np.uint32).tolist()
        assert out[:, 1].tolist() == a.astype(np.int64).tolist()

    def test_constants(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            table = cuda.const.array_like(TABLE)
            out[i] = np.float32(table[i % 3, 3]) * SCALE

        out = np.zeros(6, np.float32)
        clean(kernel, 1, 6, out)
        assert out.tolist() == [TABLE[i % 3, 3] * 1.5 for i in range(6)]

    def test_shared_local_and_dynamic(self) -> None:
        def kernel(out, a):
            i = cuda.threadIdx.x
            dynamic = cuda.shared.array(0, np.float32)
            integers = cuda.shared.array(0, np.int32)[8:]
            fixed = cuda.shared.array((2, 4), np.int16)
            own = cuda.local.array(3, np.int64)
            dynamic[i] = a[i]
            integers[i] = i * i
            fixed[i // 4, i % 4] = i
            for j in range(3):
                own[j] = i + j
            cuda.syncthreads()
            total = own[0] + own[1] + own[2]
            whole = integers[7 - i] + fixed[(7 - i) // 4, (7 - i) % 4] + total
            out[i] = np.float64(dynamic[7 - i]) + np.float64(whole)

        a = np.arange(8, dtype=np.float32) * 100
        out = np.zeros(8)
        clean(kernel, 1, 8, out, a, shared_bytes=64)
        j = 7 - np.arange(8)
        assert out.tolist() == (100.0 * j + j**2 + j + 3 * np.arange(8) + 3).tolist()

    def test_vectors_and_cache_hints(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            v = cuda.float32x4(a[i], 1.0, cuda.ldca(a, i), 2.0)
            w = cuda.int32x2(i, 3)
            cuda.stcs(out, i, v.x + v.y + v.z + v.w + w.x * w.y)

        a = np.arange(4, dtype=np.float32)
        out = np.zeros(4, np.float32)
        simulate(kernel, 1, 4, out, a)
        assert out.tolist() == [2 * x + 3 + 3 * x for x in range(4)]
