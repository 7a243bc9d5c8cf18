"""What numba-cuda accepts, the simulator runs; whole arrays against NumPy."""

from __future__ import annotations

import json
import sys
import types as pytypes
from enum import IntEnum
from pathlib import Path

import numpy as np
import pytest

from wia_lab import cuda, simulate
from wia_lab.simt import frontend
from wia_lab.simt.build import Library

sys.path.insert(0, str(Path(__file__).parent))
import typing_tools  # noqa: E402

CORPUS = typing_tools.load(
    typing_tools.HERE / "typing_corpus.py", pytypes.ModuleType("wia_lab.cuda")
)
EXPECTED = json.loads((typing_tools.HERE / "typing_expected.json").read_text())["kernels"]
ACCEPTED = [name for name, each in EXPECTED.items() if not each["error"]]


@pytest.mark.parametrize("name", ACCEPTED)
def test_every_accepted_kernel_has_a_program(name: str) -> None:
    """No construct that numba-cuda compiles is one that the simulator cannot execute."""
    function, argument_types, device = CORPUS.KERNELS[name]
    typed = frontend.type_function(function, argument_types, kernel=not device)
    program = Library().program(typed)
    assert all(segment.end is not None for segment in program.segments)


def make(source: str, **names: object) -> object:
    scope = {"cuda": cuda, "np": np, **names}
    exec(source, scope)
    return scope["k"]


A = np.array([[3.0, -1.0, 2.5], [0.0, 8.0, 4.0]])


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "std", "var", "argmax", "argmin", "any"])
def test_reductions_of_an_array(name: str) -> None:
    """One thread reduces a whole array as NumPy does."""
    out = np.zeros(1)
    report = simulate(make(f"def k(o, a):\n    o[0] = a.{name}()\n"), 1, 1, out, A)
    np.testing.assert_allclose(out[0], getattr(A, name)(), rtol=1e-15)
    assert not report.errors


class Colour(IntEnum):
    RED = 7
    BLUE = 9


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for i, j in np.ndindex(a.shape):\n        o[0] += a[i, j] * (10 * i + j)", 140.0),
        ("for x in a.flat:\n        o[0] = 2 * o[0] + x", 120.0),
        ("for x in np.nditer(a):\n        o[0] = 2 * o[0] + x.item()", 120.0),
        ("o[0] = sum((1, 2, 4))", 7.0),
        ("o[0] = sum(a[1])", float(A[1].sum())),
        ("o[0] = sum(a[1], 100)", 100.0 + float(A[1].sum())),
        ("o[0] = 5 in range(1, 9, 2)", 1.0),
        ("o[0] = 6 in range(1, 9, 2)", 0.0),
        ("o[0] = 9 in range(1, 9, 2)", 0.0),
        ("s = slice(2, 5)\n    o[0] = s.start * 100 + s.stop * 10 + s.step", 251.0),
        ("o[0] = Colour.BLUE", 9.0),
        ("n = a.size * 51\n    o[0] = n.bit_count() + (-n).bit_count()", 8.0),
        ("for (i, j), x in np.ndenumerate(a):\n        o[0] += x * (10 * i + j)", 140.0),
    ],
)
def test_statements(body: str, expected: float) -> None:
    """Small statements over whole things."""
    out = np.zeros(1)
    simulate(make(f"def k(o, a):\n    {body}\n", Colour=Colour), 1, 1, out, A)
    assert out[0] == expected


def test_a_ufunc_with_an_output_array() -> None:
    """`np.sin(a, out)` by one thread."""
    out = np.zeros_like(A)
    simulate(make("def k(o, a):\n    np.sin(a, o)\n"), 1, 1, out, A)
    np.testing.assert_allclose(out, np.sin(A), rtol=1e-15)
