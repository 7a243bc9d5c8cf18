"""Control flow, device functions, threads that work together: against plain Python."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numba import literal_unroll, njit

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


class TestIndices:
    """Threads, blocks, grids and lanes in up to three dimensions."""

    def test_three_dimensions(self) -> None:
        def kernel(out):
            x, y, z = cuda.grid(3)
            gx, gy, gz = cuda.gridsize(3)
            if x < out.shape[2] and y < out.shape[1] and z < out.shape[0]:
                out[z, y, x] = (
                    cuda.threadIdx.x
                    + 10 * cuda.threadIdx.y
                    + 100 * cuda.threadIdx.z
                    + 1000 * cuda.blockIdx.x
                    + 10000 * cuda.blockIdx.y
                    + 100000 * cuda.blockIdx.z
                    + 10**6 * (gx + gy * 100 + gz * 10000)
                )

        out = np.zeros((5, 7, 9), np.int64)
        clean(kernel, (3, 2, 3), (4, 5, 2), out)
        z, y, x = np.indices(out.shape)
        expected = x % 4 + 10 * (y % 5) + 100 * (z % 2)
        expected += 1000 * (x // 4) + 10**4 * (y // 5) + 10**5 * (z // 2)
        expected += 10**6 * (12 + 100 * 10 + 10000 * 6)
        np.testing.assert_array_equal(out, expected)

    def test_lanes_and_extents(self) -> None:
        def kernel(out):
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            i = y * cuda.blockDim.x + x
            out[i, 0] = cuda.laneid
            out[i, 1] = cuda.warpsize + cuda.gridDim.x + cuda.blockDim.y * 100 + cuda.gridDim.z
            out[i, 2] = cuda.lanemask_lt()

        out = np.zeros((45, 3), np.int64)
        clean(kernel, 1, (9, 5), out)
        lanes = np.arange(45) % 32
        assert out[:, 0].tolist() == lanes.tolist()
        assert set(out[:, 1]) == {32 + 1 + 500 + 1}
        assert out[:, 2].tolist() == [2 ** int(n) - 1 for n in lanes]

    def test_one_thread(self) -> None:
        def kernel(out):
            out[cuda.blockIdx.x] = cuda.grid(1) + cuda.gridsize(1)

        out = np.zeros(5, np.int64)
        clean(kernel, 5, 1, out)
        assert out.tolist() == [5, 6, 7, 8, 9]

    def test_many_chunks(self) -> None:
        """More threads than run together: every block runs once."""

        def kernel(out, total):
            tile = cuda.shared.array(1, np.int32)
            i = cuda.grid(1)
            if cuda.threadIdx.x == 0:
                tile[0] = cuda.blockIdx.x
            cuda.syncthreads()
            out[i] = tile[0]
            cuda.atomic.add(total, 0, 1)

        out, total = np.zeros(100 * 700, np.int32), np.zeros(1, np.int64)
        clean(kernel, 700, 100, out, total)
        assert out.tolist() == np.repeat(np.arange(700), 100).tolist()
        assert total[0] == 70000


class TestBranches:
    """if, ternaries, chained and short-circuit conditions."""

    def test_ternary_chain_and_short_circuit(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            value = 1 if i < 5 else 2 if 5 <= i < 20 else 3
            if i != 0 and 100 // i > 9 or i == 50:
                value += 10
            if not (i % 2):
                value += 100
            out[i] = value

        def python(i):
            value = 1 if i < 5 else 2 if 5 <= i < 20 else 3
            if i != 0 and 100 // i > 9 or i == 50:
                value += 10
            return value + 100 * (i % 2 == 0)

        each_thread(kernel, python)

    def test_early_return(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            out[i] = 1
            if i % 3 == 0:
                return
            out[i] = 2
            for j in range(i):
                if j == 7:
                    return
                out[i] += j

        each_thread(kernel, lambda i: 1 if i % 3 == 0 else 2 + sum(range(min(i, 7))))

    def test_unset_on_a_path_not_taken(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            if i >= 0:
                value = i * 3
            out[i] = value

        each_thread(kernel, lambda i: 3 * i)


class TestLoops:
    """for, while, else, break, continue; also nested."""

    def test_for_else(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            for d in range(2, i):
                if i % d == 0:
                    out[i] = d
                    break
            else:
                out[i] = -1

        def python(i):
            return next((d for d in range(2, i) if i % d == 0), -1)

        each_thread(kernel, python)

    def test_while_else_continue(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            n, steps = i + 1, 0
            while n != 1:
                steps += 1
                if steps > 40:
                    out[i] = -n
                    break
                if n % 2 == 0:
                    n //= 2
                    continue
                n = 3 * n + 1
            else:
                out[i] = steps

        def python(i):
            n, steps = i + 1, 0
            while n != 1:
                steps += 1
                if steps > 40:
                    return -n
                n = n // 2 if n % 2 == 0 else 3 * n + 1
            return steps

        each_thread(kernel, python)

    def test_nested_with_tuples_and_steps(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            a, b = 0, 1
            for j in range(i, -1, -3):
                for k in range(2, 20, 5):
                    if k > j:
                        break
                    a, b = b, a + b * (k % 3)
                    if a > 1000:
                        a -= 1000
                        continue
                    b %= 777
            out[i] = a * 1000 + b

        def python(i):
            a, b = 0, 1
            for j in range(i, -1, -3):
                for k in range(2, 20, 5):
                    if k > j:
                        break
                    a, b = b, a + b * (k % 3)
                    if a > 1000:
                        a -= 1000
                        continue
                    b %= 777
            return a * 1000 + b

        each_thread(kernel, python)

    def test_literal_unroll(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            total = 0
            for x in literal_unroll((1, 2.5, 4)):
                total += int(x * i)
            out[i] = total

        each_thread(kernel, lambda i: i + int(2.5 * i) + 4 * i)


@cuda.jit(device=True)
def extremes(a, b, scale=2):
    """A tuple, with a default."""
    if a < b:
        return a * scale, b
    return b * scale, a


@cuda.jit(device=True)
def store(out, i, value):
    """Nothing."""
    if value < 0:
        return
    out[i] = value


@cuda.jit(device=True)
def power(base, n):
    """Calls itself."""
    if n == 0:
        return 1
    half = power(base, n // 2)
    if n % 2:
        return half * half * base
    return half * half


@cuda.jit(device=True)
def given(a, i):
    """The array it was given."""
    a[i] += 1
    return a


@njit
def plain(x):
    return x * x + OFFSET


def undecorated_sum(parts):
    total = 0
    for x in parts:
        total += x
    return total


summed = cuda.jit(device=True)(undecorated_sum)


class TestFunctions:
    """Device functions, @njit functions, closures, lambdas."""

    def test_results_defaults_keywords(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            low, high = extremes(i, 30)
            other, _ = extremes(b=i, a=30, scale=i % 3)
            store(out, i, low + 100 * high + 10000 * other)

        def python(i):
            low, high = (i * 2, 30) if i < 30 else (60, i)
            other = min(30, i) * (i % 3)
            return low + 100 * high + 10000 * other

        each_thread(kernel, python)

    def test_recursion(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            out[i] = power(3, i % 20)

        each_thread(kernel, lambda i: 3 ** (i % 20))

    def test_njit_closure_lambda(self) -> None:
        factor = 7

        def kernel(out):
            i = cuda.grid(1)
            twice = lambda x: 2 * x  # noqa: E731
            out[i] = plain(i) + factor * twice(i) + summed((i, 1, 2))

        each_thread(kernel, lambda i: i * i + 1000 + 14 * i + i + 3)

    def test_arrays_returned_and_chosen(self) -> None:
        def kernel(out, a, b):
            i = cuda.grid(1)
            tile = cuda.shared.array(64, np.int64)
            tile[i] = 5 * i
            cuda.syncthreads()
            chosen = a if i % 2 == 0 else b
            third = given(tile if i % 3 == 0 else chosen, i)
            out[i] = chosen[i] + third[i] + third.size
            for x in third[i : i + 1]:
                out[i] += x

        a, b = np.arange(64), np.arange(80) * 100
        out = np.zeros(64, np.int64)
        expected = []
        for i in range(64):
            parts = {"t": [5 * i, 64], "a": [int(a[i]), 64], "b": [int(b[i]), 80]}
            chosen = "a" if i % 2 == 0 else "b"
            third = "t" if i % 3 == 0 else chosen
            parts[third][0] += 1
            expected.append(parts[chosen][0] + 2 * parts[third][0] + parts[third][1])
        simulate(kernel, 1, 64, out, a, b)
        assert out.tolist() == expected

    def test_buffers_swapped_as_often_as_the_block_says(self) -> None:
        def kernel(out, a, b):
            i = cuda.grid(1)
            for k in range(cuda.blockIdx.x + 1):
                b[i] = a[i] + k + 1
                a, b = b, a
            out[i] = a[i] * 1000 + b[i]

        a, b, out = np.zeros(40, np.int64), np.zeros(40, np.int64), np.zeros(40, np.int64)
        clean(kernel, 5, 8, out, a, b)
        sums = [n * (n + 1) // 2 for n in range(6)]
        assert out.tolist() == [sums[i // 8 + 1] * 1000 + sums[i // 8] for i in range(40)]


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
