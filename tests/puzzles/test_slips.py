"""Slips that the source shows: which are told, and which lookalikes are not."""

from __future__ import annotations

import linecache
import math

import numpy as np
import pytest
from numba import float32, int32

from wia_lab import cuda
from wia_lab.puzzles.slips import axes_swapped, plain_slip, slip

FILE = "slips.py"


def function(body: str):
    """The plain function of a kernel with this body; its first line is number 3."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    text = f"@cuda.jit\ndef kernel(out, a):\n{lines}"
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    names = {"cuda": cuda, "math": math, "np": np, "float32": float32, "int32": int32, "N": 4}
    exec(compile(text, FILE, "exec"), names)
    return names["kernel"].py_func


class TestPlain:
    """Statements without effect, and bits where truth values are meant."""

    @pytest.mark.parametrize(
        ("body", "cause", "line"),
        [
            ("out[0] == a[0]", "compared-not-stored", 3),
            ("out[0] = 1\ntotal == 3", "compared-not-stored", 4),
            ("cuda.syncthreads", "not-called", 3),
            ("if a[0] > 0:\n    cuda.cp_async_wait_all", "not-called", 4),
        ],
    )
    def test_told_with_the_line(self, body, cause, line):
        found = plain_slip(function(body))
        assert (found.cause, found.line) == (cause, line)
        assert f"line {line}" in found.sentence

    @pytest.mark.parametrize("sign", ["&", "|"])
    def test_bits_between_comparisons(self, sign):
        found = plain_slip(function(f"if 0 < out.size {sign} a.size < 9:\n    out[0] = 1"))
        assert found.cause == "bits-in-a-comparison"
        assert f"write `{'and' if sign == '&' else 'or'}`" in found.sentence

    @pytest.mark.parametrize(
        "body",
        [
            "cuda.syncthreads()",
            "out[0] = a[0] == 1",
            "if (0 < out.size) & (a.size < 9):\n    out[0] = 1",
            "if 0 < (out.size & 3) < 9:\n    out[0] = 1",
            "if out.size & 3 == 0:\n    out[0] = 1",
            "'''A text.'''\nout[0] = 1",
            "out[0]",
        ],
    )
    def test_nothing_of_what_is_meant(self, body):
        assert plain_slip(function(body)) is None

    def test_a_function_without_source(self):
        names = {}
        exec("def kernel(out):\n    out[0] == 1", names)
        assert plain_slip(names["kernel"]) is None


class TestAxes:
    """Names of axes that get the other one."""

    @pytest.mark.parametrize(
        "line",
        [
            "row, column = cuda.grid(2)",
            "y, x = cuda.grid(2)",
            "x, y = cuda.threadIdx.y, cuda.threadIdx.x",
            "col, row = cuda.threadIdx.y, cuda.threadIdx.x",
        ],
    )
    def test_told(self, line):
        found = axes_swapped(function(line))
        assert found.cause == "axes-swapped"
        assert found.sentence.startswith("line 3 ")

    @pytest.mark.parametrize(
        "line",
        [
            "column, row = cuda.grid(2)",
            "i, j = cuda.grid(2)",
            "x, y = cuda.threadIdx.x, cuda.threadIdx.y",
            "y, x = cuda.threadIdx.y, cuda.threadIdx.x",
            "x, y = out.shape",
        ],
    )
    def test_right_or_without_a_name(self, line):
        assert axes_swapped(function(line)) is None


class TestWhole:
    """What cuts numbers to whole ones, where only such come out."""

    OUT = np.array([0, 1, np.nan, -3], np.float32)

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ("out[0] = int(a[0])", "line 3 makes a whole number, `int(a[0])`"),
            ("out[0] = np.int32(a[0])", "line 3 makes a whole number, `np.int32(a[0])`"),
            ("t = cuda.shared.array(N, int32)\nout[0] = t[0]", "line 3 makes t of int32"),
            ("t = cuda.local.array(N, dtype=np.int64)\nout[0] = t[0]", "line 3 makes t of int64"),
            ("out[0] = a[0] // a[1]", "line 3 divides by //"),
        ],
    )
    def test_told(self, body, said):
        found = slip(function(body), {"out": self.OUT})
        assert found.cause == "cut-to-whole"
        assert said in found.sentence

    def test_not_where_other_numbers_come_out(self):
        assert slip(function("out[0] = int(a[0])"), {"out": np.array([0.5])}) is None

    def test_not_of_integers_and_not_of_nothing(self):
        for out in (np.array([1, 2]), np.array([np.nan]), np.zeros(0)):
            assert slip(function("out[0] = int(a[0])"), {"out": out}) is None

    def test_not_for_indices(self):
        assert slip(function("i = a.size // 2\nout[i] = a[i]"), {"out": self.OUT}) is None


class TestSums:
    """An index that stands still, and a sum that goes on."""

    OUT = np.array([0.5])

    def test_index_without_the_counter(self):
        body = "total = 0.0\nfor k in range(3):\n    total += a[0] * out[k]\nout[0] = total"
        found = slip(function(body), {"out": self.OUT})
        assert found.cause == "index-without-counter"
        assert "on line 5 `a[0]` is the same element in each round" in found.sentence

    @pytest.mark.parametrize(
        "body",
        [
            "total = 0.0\nfor k in range(3):\n    i = k + 1\n    total += a[i] * out[k]",
            "total = 0.0\nfor k in range(3):\n    total += a[k]",
            "for k in range(3):\n    out[k] += a[0] * a[k]",
        ],
    )
    def test_index_with_it(self, body):
        assert slip(function(body), {"out": self.OUT}) is None

    def test_sum_not_reset(self):
        body = (
            "total = 0.0\n"
            "for i in range(3):\n"
            "    for k in range(3):\n"
            "        total += a[i + k]\n"
            "    out[i] = total"
        )
        found = slip(function(body), {"out": self.OUT})
        assert found.cause == "sum-not-reset"
        assert (
            "starts on line 3, before the loop on line 4, and is used on line 7" in found.sentence
        )

    @pytest.mark.parametrize(
        "body",
        [
            "for i in range(N):\n  s = 0.0\n  for k in range(N):\n    s += a[k]\n  out[i] = s",
            "s = 0.0\nfor t in range(3):\n  for k in range(3):\n    s += a[t + k]\nout[0] = s",
            "s = 0.0\nfor i in range(3):\n    s += a[i]\n    out[i] = s",
        ],
    )
    def test_sum_that_may_go_on(self, body):
        assert slip(function(body), {"out": self.OUT}) is None
