"""Usual slips in a kernel: the line, what is wrong, and the way out, in one sentence."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
from numba import float32

from wia_lab import cuda
from wia_lab.simt import frontend

MATRIX = float32[:, ::1]
SOURCE = """
@cuda.jit
def kernel(a, b, c):
    row, column = cuda.grid(2)
    {}
"""


def sentence(statement: str) -> str:
    """What a kernel with this statement on its line 5 is told."""
    names = {"cuda": cuda, "np": np, "math": math, "float32": float32}
    exec(compile(SOURCE.format(statement), "cell.py", "exec"), names)
    with pytest.raises(Exception, match="in kernel") as caught:
        frontend.type_function(names["kernel"].py_func, (MATRIX, MATRIX, MATRIX))
    return str(caught.value)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("total = 'a'; total += a[0, 0]", "+= does not take ('a', float32) in a kernel"),
        ("c[0, 0] = -'x'", "- does not take ('x') in a kernel"),
        ("c[0, 0] = a.size()", "int64 is a value and no function, so it cannot be called with ()"),
        ("c[0, 0] = a(row)", "write [ ] for an element"),
        ("c[0, 0] = (a @ b)[0, 0]", "@ makes a new array, and a kernel cannot allocate memory"),
        ("a @= b", "@ makes a new array, and a kernel cannot allocate memory"),
        ("c[0, 0] = np.dot(a, b)[0, 0]", "np.dot has no meaning in a kernel: write a loop"),
        ("c[0, 0] = np.linalg.norm(a)", "numpy.linalg has no norm in a kernel"),
        ("c[0, 0] = c.shape[2]", "an array of n dimensions has shape[0] to shape[n - 1]"),
        ("c[0, 0] = a[row, 0, 0]", "give an integer for each of its 2 dimensions"),
        ("c[0, 0] = a[row / 2, 0]", "does not take the index Tuple(float64, 0): give an integer"),
        ("c[0, 0] = a['x']", "array(float32, 2d, C) does not take the index 'x'"),
        ("c[0, 0] = 1 if a < b else 2", "need one truth value, not a whole array's"),
        ("cuda.cp_async(a, 0)", "of cuda.cp_async has not the arguments that it needs: missing"),
        ("cuda.syncthread()", "cuda has no 'syncthread': perhaps cuda.syncthreads is meant"),
        ("c[0, 0] = cuda.blockidx.x", "cuda has no 'blockidx': perhaps cuda.blockIdx is meant"),
        ("cuda.atomic.ad(c, 0, 1)", "cuda.atomic has no 'ad': perhaps cuda.atomic.add is meant"),
        ("cuda.xyzzy()", "cuda has no 'xyzzy'."),
        ("c[rwo, 0] = 0", "rwo is not defined: perhaps row is meant."),
        ("c[Row, 0] = 0", "Row is not defined: perhaps row is meant."),
        ("c[xyzzy, 0] = 0", "xyzzy is not defined: define it before the kernel runs."),
        ("rows += 1; c[rows, 0] = 0", "rows has no value where it is used: perhaps row is meant."),
        ("c[xyz, 0] = 0; xyz = 1", "xyz has no value where it is used: assign it on every path"),
        ("c[0, 0] = a.shpe[0]", "has no shpe in a kernel: perhaps shape is meant."),
        ("c[0, 0] = math.sqr(2.0)", "module 'math' has no attribute 'sqr': perhaps sqrt is meant."),
        ("c[0, 0] = math.isqrt(2)", "math has no isqrt in a kernel."),
        ("for x, y in zip(a): c[0, 0] = 0", "1 values cannot be unpacked into 2 names"),
        ("c[0, 0] = np.float23(1)", "module 'numpy' has no attribute 'float23'"),
    ],
)
def test_slip(statement: str, said: str) -> None:
    """One sentence opens with the place and says what this slip is; nothing of Numba's follows."""
    found = sentence(statement)
    assert "\n" not in found
    assert found.count("perhaps") <= 1
    assert found.startswith("cell.py:5: in kernel, ")
    assert said in found


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("c[0, 0] = (a @ b)[0, 0]", "@ makes a new array"),
        ("c[0, 0] = np.dot(a, b)[0, 0]", "np.dot has no meaning in a kernel"),
    ],
)
def test_slip_is_the_same_after_other_targets_have_loaded_their_declarations(
    statement: str, said: str
) -> None:
    """Numba's CPU target declares linear algebra as it is loaded: kernels know nothing of it."""
    importlib.import_module("numba.np.linalg")
    assert said in sentence(statement)
