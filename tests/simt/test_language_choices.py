"""Arrays, records and None that differ a thread: each thread touches its own alone."""

from __future__ import annotations

import numpy as np

from wia_lab import cuda, simulate

POINT = np.dtype([("x", np.float64), ("n", np.int64), ("v", np.float64, (3,))])


def clean(kernel, block, *arguments):
    """Simulate one block, and insist on no error."""
    report = simulate(kernel, 1, block, *arguments)
    assert [str(each) for each in report.errors] == []
    return report


class TestChoices:
    """`a if test else b` with arrays of different memory and shape."""

    def test_records(self) -> None:
        """A field is read from the record chosen; the other is not touched: no race, no bounds."""

        def kernel(out, a, b):
            i = cuda.grid(1)
            record = a[i] if i % 2 else b[i]
            out[i] = record.x + record.n + record.v[1]
            record.n = 7

        a, b = np.zeros(8, POINT), np.zeros(8, POINT)
        a["x"], a["n"], b["x"], b["v"] = 1, np.arange(8), 100, 5
        out = np.zeros(8)
        report = clean(kernel, 8, out, a, b)
        assert out.tolist() == [105, 2, 105, 4, 105, 6, 105, 8]
        assert a["n"].tolist() == [0, 7, 2, 7, 4, 7, 6, 7]
        assert b["n"].tolist() == [7, 0] * 4
        traffic = {each.name: each for each in report.arrays}
        assert traffic["a"].loaded_bytes == traffic["b"].loaded_bytes == 4 * 3 * 8

    def test_ragged_arrays(self) -> None:
        def kernel(out, a, b):
            i = cuda.grid(1)
            chosen = a if i % 2 else b
            cuda.atomic.add(chosen, i // 2, 1)
            for j in range(chosen.shape[0]):
                out[i] += j
            part = chosen[1:3]
            out[i] += 100 * part.size + chosen.ndim

        a, b, out = np.zeros(8), np.zeros(5), np.zeros(8)
        clean(kernel, 8, out, a, b)
        assert out.tolist() == [211, 229] * 4
        assert a.tolist() == [1] * 4 + [0] * 4
        assert b.tolist() == [1] * 4 + [0]

    def test_rows_fills_and_shapes(self) -> None:
        def kernel(out, a, b):
            i = cuda.grid(1)
            chosen = a if i % 2 else b
            row = chosen[i]
            row.fill(i)
            chosen[i, 1:3] = 9
            flat = chosen.reshape(chosen.size)
            out[i] = flat[i * chosen.shape[1]] + row[2] + chosen[i, :].size

        a, b, out = np.zeros((8, 4)), np.zeros((7, 5)), np.zeros(7)
        clean(kernel, 7, out, a, b)
        assert out.tolist() == [i + 9 + (4 if i % 2 else 5) for i in range(7)]
        assert b[2].tolist() == [2, 9, 9, 2, 2]
        assert a[3].tolist() == [3, 9, 9, 3]

    def test_an_index_of_the_other_array_only(self) -> None:
        """A row that exists in the array chosen alone is not out of bounds."""

        def kernel(out, a, b):
            i = cuda.grid(1)
            chosen = a if i < 3 else b
            out[i] = chosen[i][0]

        out = np.zeros(8)
        clean(kernel, 8, out, np.zeros((3, 2)), np.ones((8, 2)))
        assert out.tolist() == [0] * 3 + [1] * 5

    def test_row_out_of_bounds(self) -> None:
        """The index named is the one in the source."""

        def kernel(out, a):
            i = cuda.grid(1)
            out[i] = a[i - 6][0]

        report = simulate(kernel, 1, 8, np.zeros(8), np.zeros((4, 2)))
        (error,) = report.errors
        assert (error.kind, error.index) == ("out-of-bounds", (-6, 0))

    def test_views_that_move_in_a_loop(self) -> None:
        def kernel(out, a, n):
            i = cuda.grid(1)
            part = a
            while n > 0:
                part = part[1:] if i % 2 else part[:-1]
                n -= 1
            out[i] = part[0] + part.size * 100

        out = np.zeros(4)
        clean(kernel, 4, out, np.arange(10), 3)
        assert out.tolist() == [700, 703, 700, 703]


@cuda.jit(device=True)
def doubled(x):
    """Nothing for small numbers."""
    if x > 2:
        return x * 2.0
    return None


class TestOptional:
    """A device function that returns a number or None."""

    def test_tested(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            found = doubled(i)
            if found is not None:
                out[i] = found
            else:
                out[i] = -1

        out = np.zeros(5)
        clean(kernel, 5, out)
        assert out.tolist() == [-1, -1, -1, 6, 8]

    def test_computed_with(self) -> None:
        def kernel(out):
            i = cuda.grid(1)
            out[i] = doubled(i + 5) + 1

        out = np.zeros(5)
        clean(kernel, 5, out)
        assert out.tolist() == [2 * (i + 5) + 1 for i in range(5)]
