"""Exceptions, atomics and mixed forms: what threads do to shared things, from plain Python."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from wia_lab import cuda, simulate
from wia_lab.simt.launch import run

sys.path.insert(0, str(Path(__file__).parent))
from kernel_sources import kernel_from

FULL = 0xFFFFFFFF
OFFSET = 1000


def clean(kernel, grid, block, *arguments, **options):
    """Simulate, and insist on no hazard at all."""
    report = simulate(kernel, grid, block, *arguments, **options)
    assert [str(each) for each in report.hazards] == []
    return report


def each_thread(kernel, python: Callable[[int], int], threads: int = 70, grid: int = 1) -> None:
    """`out[i]` of a kernel of one array must be what a Python function says of i."""
    out = np.zeros(threads * grid, np.int64)
    clean(kernel, grid, threads, out)
    assert out.tolist() == [python(i) for i in range(threads * grid)]


class TestExceptions:
    """assert and raise are heard of in debug mode alone."""

    kernel = staticmethod(
        kernel_from(
            """
            def kernel(out, limit):
                i = cuda.grid(1)
                if i == 7:
                    raise ValueError("seven is too many")
                assert i < limit, "past the limit"
                out[i] = 1
            """
        )
    )

    def test_raise(self) -> None:
        out = np.zeros(9, np.int64)
        with pytest.raises(ValueError, match=r"thread 7 of block 0: seven is too many"):
            run(self.kernel, 1, 9, (out, 100), debug=True)

    def test_assert(self) -> None:
        out = np.zeros(5, np.int64)
        with pytest.raises(AssertionError, match=r"thread 3 of block 0: past the limit"):
            run(self.kernel, 1, 5, (out, 3), debug=True)

    def test_without_debug_the_thread_ends(self) -> None:
        out = np.zeros(9, np.int64)
        simulate(self.kernel, 1, 9, out, 8)
        assert out.tolist() == [1] * 7 + [0, 0]


ATOMICS = {
    "global": """
        def kernel(out, cells, values):
            i = cuda.grid(1)
            out[i] = cuda.atomic.OPERATION(cells, (1, i % 2), values[i])
        """,
    "shared": """
        def kernel(out, cells, values):
            i = cuda.grid(1)
            tile = cuda.shared.array((2, 2), np.uint32)
            if i < 4:
                tile[i // 2, i % 2] = cells[i // 2, i % 2]
            cuda.syncthreads()
            out[i] = cuda.atomic.OPERATION(tile, (1, i % 2), values[i])
            cuda.syncthreads()
            if i < 4:
                cells[i // 2, i % 2] = tile[i // 2, i % 2]
        """,
}


class TestAtomics:
    """Each returns the old value, as if in lane order."""

    @pytest.mark.parametrize("space", ["global", "shared"])
    @pytest.mark.parametrize(
        ("name", "python"),
        [
            ("add", lambda old, v: old + v),
            ("sub", lambda old, v: old - v),
            ("max", max),
            ("min", min),
            ("and_", lambda old, v: old & v),
            ("or_", lambda old, v: old | v),
            ("xor", lambda old, v: old ^ v),
            ("exch", lambda old, v: v),
            ("inc", lambda old, v: 0 if old >= v else old + 1),
            ("dec", lambda old, v: v if old == 0 or old > v else old - 1),
        ],
    )
    def test_old_values(self, name, python, space) -> None:
        kernel = kernel_from(ATOMICS[space].replace("OPERATION", name))
        values = (np.arange(40, dtype=np.uint32) * 13 + 5) % 17
        cells = np.array([[1, 2], [200, 90]], np.uint32)
        out = np.zeros(40, np.uint32)
        state, expected = [200, 90], []
        for i in range(40):
            expected.append(state[i % 2] % 2**32)
            state[i % 2] = python(state[i % 2] % 2**32, int(values[i])) % 2**32
        clean(kernel, 1, 40, out, cells, values)
        assert out.tolist() == expected
        assert cells.tolist() == [[1, 2], state]

    @pytest.mark.parametrize("dtype", [np.uint64, np.int64, np.uint32, np.int32])
    def test_every_bit_is_kept(self, dtype) -> None:
        """Near the ends of the type: nothing goes through a float on the way."""

        def kernel(out, cells):
            i = cuda.grid(1)
            out[0, i] = cuda.atomic.add(cells, 0, 3)
            out[1, i] = cuda.atomic.sub(cells, 1, 3)
            out[2, i] = cuda.atomic.xor(cells, 2, 1)

        info = np.iinfo(dtype)
        cells = np.array([info.max - 4, info.min + 4, info.max - 6], dtype)
        out = np.zeros((3, 3), dtype)
        clean(kernel, 1, 3, out, cells)
        top, low = int(info.max), int(info.min)
        assert out.tolist() == [
            [top - 4, top - 1, low + 1],
            [low + 4, low + 1, top - 1],
            [top - 6, top - 7, top - 6],
        ]

    def test_compare_and_swap(self) -> None:
        def kernel(out, cells):
            i = cuda.grid(1)
            out[0, i] = cuda.atomic.cas(cells, 1, i - 1, i)
            out[1, i] = cuda.atomic.compare_and_swap(cells, 5, 100 + i)

        out, cells = np.zeros((2, 4), np.int32), np.array([5, -1], np.int32)
        clean(kernel, 1, 4, out, cells)
        assert out.tolist() == [[-1, 0, 1, 2], [5, 100, 100, 100]]
        assert cells.tolist() == [100, 3]

    def test_floats_and_nan(self) -> None:
        def kernel(cells, a):
            i = cuda.grid(1)
            cuda.atomic.add(cells, 0, a[i])
            cuda.atomic.nanmax(cells, 1, a[i])
            cuda.atomic.nanmin(cells, 2, a[i])

        a = np.array([1.5, -2.0, 8.25], np.float32)
        cells = np.array([0, np.nan, np.nan], np.float32)
        clean(kernel, 1, 3, cells, a)
        assert cells.tolist() == [7.75, 8.25, -2.0]

    def test_record_field(self) -> None:
        def kernel(a):
            cuda.atomic.add(a["n"], cuda.grid(1) % 2, 3)

        a = np.zeros(2, [("x", np.float64), ("n", np.int64)])
        clean(kernel, 1, 5, a)
        assert a["n"].tolist() == [9, 6]


class TestTogether:
    """Barriers with votes, warp operations, fences, grids."""

    def test_barriers_that_count(self) -> None:
        def kernel(out):
            i = cuda.threadIdx.x
            b = cuda.blockIdx.x
            odd = i % 2
            if i < 4:
                odd = b
            count = cuda.syncthreads_count(odd)
            every = cuda.syncthreads_and(odd)
            some = cuda.syncthreads_or(odd * (i < 4))
            out[cuda.grid(1)] = count * 100 + every * 10 + some

        out = np.zeros(40, np.int64)
        clean(kernel, 2, 20, out)
        assert out.tolist() == [800] * 20 + [1201] * 20

    def test_shuffles(self) -> None:
        def kernel(out, a):
            i = cuda.threadIdx.x
            out[0, i] = cuda.shfl_sync(FULL, a[i], 3)
            out[1, i] = cuda.shfl_sync(FULL, a[i], i + 40)
            out[2, i] = cuda.shfl_up_sync(FULL, a[i], 4)
            out[3, i] = cuda.shfl_down_sync(FULL, a[i], 5)
            out[4, i] = cuda.shfl_xor_sync(FULL, a[i], 9)

        lane = np.arange(32)
        a = lane**2 * 1.5
        out = np.zeros((5, 32))
        clean(kernel, 1, 32, out, a)
        np.testing.assert_array_equal(out[0], np.full(32, a[3]))
        np.testing.assert_array_equal(out[1], a[(lane + 40) % 32])
        np.testing.assert_array_equal(out[2], np.where(lane < 4, a, a[lane - 4]))
        np.testing.assert_array_equal(out[3], np.where(lane > 26, a, a[(lane + 5) % 32]))
        np.testing.assert_array_equal(out[4], a[lane ^ 9])

    def test_votes_and_matches(self) -> None:
        def kernel(out, a):
            i = cuda.threadIdx.x
            out[0, i] = cuda.all_sync(FULL, a[i] >= 0)
            out[1, i] = cuda.any_sync(FULL, a[i] > 3)
            out[2, i] = cuda.eq_sync(FULL, a[i] > 1)
            out[3, i] = np.uint32(cuda.ballot_sync(FULL, a[i] == 2))
            out[4, i] = np.uint32(cuda.match_any_sync(FULL, a[i]))
            mask, same = cuda.match_all_sync(FULL, a[i] * 0)
            out[5, i] = same + (np.uint32(mask) == FULL) * 2
            out[6, i] = cuda.activemask()

        a = np.arange(32) * 7 % 4
        out = np.zeros((7, 32), np.int64)
        clean(kernel, 1, 32, out, a)
        masks = [sum(1 << k for k in range(32) if a[k] == a[i]) for i in range(32)]
        assert out.tolist() == [
            [1] * 32,
            [0] * 32,
            [0] * 32,
            [sum(1 << k for k in range(32) if a[k] == 2)] * 32,
            masks,
            [3] * 32,
            [FULL] * 32,
        ]

    def test_masks(self) -> None:
        def kernel(out):
            i = cuda.threadIdx.x
            if i < 8:
                out[i] = cuda.ballot_sync(0xFF, i % 2) + cuda.activemask() * 1000
                cuda.syncwarp(0xFF)
            else:
                out[i] = cuda.shfl_sync(0xFFFFFF00, i, 9)

        out = np.zeros(32, np.int64)
        clean(kernel, 1, 32, out)
        assert out.tolist() == [0xAA + 255000] * 8 + [9] * 24

    def test_votes_without_those_that_returned(self) -> None:
        """CUDA lets the mask of a vote name lanes that have returned."""

        def kernel(out):
            i = cuda.threadIdx.x
            if i >= 40:
                return
            out[i] = np.uint32(cuda.ballot_sync(FULL, i % 2))

        out = np.zeros(40, np.int64)
        clean(kernel, 1, 64, out)
        assert out.tolist() == [0xAAAAAAAA] * 32 + [0xAA] * 8

    def test_partial_warp(self) -> None:
        def kernel(out):
            i = cuda.threadIdx.x
            out[i] = cuda.shfl_down_sync(FULL, i, 1) + cuda.popc(cuda.ballot_sync(FULL, 1)) * 100

        out = np.zeros(40, np.int64)
        clean(kernel, 1, 40, out)
        wanted = [i + 1 + 3200 for i in range(31)] + [3231] + [i + 1 + 800 for i in range(32, 39)]
        assert out[:39].tolist() == wanted

    def test_fences_sleep_and_grid(self) -> None:
        def kernel(out, a):
            i = cuda.grid(1)
            a[i] = i
            cuda.threadfence_block()
            cuda.threadfence()
            cuda.threadfence_system()
            cuda.nanosleep(100)
            grid = cuda.cg.this_grid()
            grid.sync()
            out[i] = a[(i + 50) % a.size]

        out, a = np.zeros(200, np.int64), np.zeros(200, np.int64)
        clean(kernel, 4, 50, out, a)
        assert out.tolist() == np.roll(np.arange(200), -50).tolist()

    def test_print(self, capsys) -> None:
        def kernel(a):
            i = cuda.grid(1)
            if i % 2:
                print("thread", i, a[i], i > 2)

        clean(kernel, 1, 4, np.array([0.5, 1.5, 2.5, 3.5]))
        assert capsys.readouterr().out == "thread 1 1.500000 False\nthread 3 3.500000 True\n"


class TestMixedForms:
    """Operators in place, docstrings, globals."""

    def test_in_place(self) -> None:
        def kernel(out):
            """A docstring does no harm."""
            i = cuda.grid(1)
            x = i + 1
            x += 2
            x *= 3
            x -= 1
            x //= 2
            x <<= 2
            x |= 1
            x ^= 6
            x &= 0xFFF
            x >>= 1
            x **= 2
            x %= 1009
            out[i] = x

        def python(i):
            x = (((i + 3) * 3 - 1) // 2) << 2
            return (((x | 1) ^ 6) & 0xFFF) >> 1

        each_thread(kernel, lambda i: python(i) ** 2 % 1009)

    def test_chained_assignment_and_globals(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            half = third = i // 2
            if half > 10:
                out[i] = third + OFFSET
            else:
                out[i] = math.floor(math.pi * i)

        each_thread(kernel, lambda i: i // 2 + 1000 if i // 2 > 10 else math.floor(math.pi * i))
