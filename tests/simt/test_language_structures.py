"""Tuples, records and arrays in kernels: values from NumPy and plain Python."""

from __future__ import annotations

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
