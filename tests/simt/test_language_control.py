"""Control flow, device functions, threads that work together: against plain Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import literal_unroll, njit

from wia_lab import cuda, simulate

sys.path.insert(0, str(Path(__file__).parent))

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
