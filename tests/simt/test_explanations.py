"""Usual slips in a kernel: the line, what is wrong, and the way out, in one sentence."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
from numba import float32
from numba.core.errors import UnsupportedError  # noqa: TID251 - the class that learners see

from wia_lab import cuda, simulate
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
    names["table"] = np.zeros((2, 2), np.float32)
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
        ("c[0, 0] = a[row, 0, 0]", "2-D array of float32 does not take the index"),
        ("c[0, 0] = a[row / 2, 0]", "an index is an integer, and this one is a float: / gives"),
        ("c[0, 0] = a['x']", "2-D array of float32 does not take the index 'x'"),
        ("c[0, 0] = 1 if a < b else 2", "need one truth value, not a whole array's"),
        ("cuda.cp_async(a, 0)", "of cuda.cp_async has not the arguments that it needs: missing"),
        ("cuda.syncthread()", "cuda has no 'syncthread': perhaps cuda.syncthreads is meant"),
        ("c[0, 0] = cuda.blockidx.x", "cuda has no 'blockidx': perhaps cuda.blockIdx is meant"),
        ("cuda.atomic.ad(c, 0, 1)", "cuda.atomic has no 'ad': perhaps cuda.atomic.add is meant"),
        ("cuda.xyzzy()", "cuda has no 'xyzzy'."),
        ("c[threadIdx.x, 0] = 0", "threadIdx is not defined: perhaps cuda.threadIdx is meant."),
        ("syncthreads()", "syncthreads is not defined: perhaps cuda.syncthreads is meant."),
        ("c[ROWS, 0] = 0", "ROWS is not defined: define it before the kernel runs."),
        ("c[ROW, 0] = 0", "ROW is not defined: perhaps row is meant."),
        ("c[n, 0] = 0", "n is not defined: define it before the kernel runs."),
        ("c[A.size, 0] = 0", "A is not defined: perhaps a is meant."),
        ("c[rwo, 0] = 0", "rwo is not defined: perhaps row is meant."),
        ("c[Row, 0] = 0", "Row is not defined: perhaps row is meant."),
        ("c[xyzzy, 0] = 0", "xyzzy is not defined: define it before the kernel runs."),
        ("rows += 1; c[rows, 0] = 0", "rows has no value where it is used: perhaps row is meant."),
        ("c[xyz, 0] = 0; xyz = 1", "xyz has no value where it is used: assign it on every path"),
        ("c[0, 0] = a.shpe[0]", "has no shpe in a kernel: perhaps shape is meant."),
        ("c[0, 0] = math.sqr(2.0)", "module 'math' has no attribute 'sqr': perhaps sqrt is meant."),
        ("c[0, 0] = math.isqrt(2)", "math has no isqrt in a kernel."),
        ("for x, y in zip(a): c[0, 0] = 0", "1 values cannot be unpacked into 2 names"),
        ("c[row / 2, 0] = 1", "an index is an integer, and this one is a float: / gives"),
        ("c[0, 0.5] = 1", "an index is an integer, and this one is a float"),
        ("c[0, 0] = a[0, row / 2]", "an index is an integer, and this one is a float"),
        (
            "c['x', 0] = 1",
            "1 cannot be stored at index Tuple('x', 0) of 2-D array of float32: give",
        ),
        ("c[row] = a[row]", "the array has 2 dimensions and is given 1, so a whole row is meant"),
        ("c[0] = a[0]", "the array has 2 dimensions and is given 1, so a whole row is meant"),
        ("c[0:1] = a[0:1]", "an array cannot be stored into a slice in a kernel"),
        ("c[0, 0] = a[0]", "an element takes one number, and this is a whole array or row"),
        ("c[cuda.threadIdx.x + cuda.blockIdx, 0] = 1", "hold three numbers each: write which one"),
        ("x, y = cuda.threadIdx; c[x, y] = 1", "hold three numbers each: write which one"),
        ("c[cuda.blockIdx[1], 0] = 1", "hold three numbers each: write which one"),
        ("c[cuda.threadIdx.x(), 0] = 1", "cuda.threadIdx.x is a number and no function: leave"),
        (
            "i = cuda.grid(2); c[0, 0] = i < 5",
            "a tuple of numbers stands where one number is needed",
        ),
        ("c[0, 0] = row < c.shape", "a tuple of numbers stands where one number is needed"),
        ("c[0, 0] = row % c.shape", "a tuple of numbers stands where one number is needed"),
        ("c[0, 0] = c.shape.x", "a tuple has no .x: its parts are numbered, as in out.shape[0]"),
        ("c[0, 0] = cuda.grid(1).x", "a number has no .x: cuda.grid(1) is the number itself"),
        ("x, y = cuda.grid(1); c[x, y] = 1", "one number cannot be unpacked into several names"),
        ("c[0, 0] = sum(a[k, 0] for k in range(3))", "a generator expression has no meaning"),
        ("s = [0.0] * 4; c[0, 0] = s[0]", "a list cannot be made in a kernel"),
        ("x = cuda.syncthreads(); c[0, 0] = x[0]", "None stands where a value is needed"),
        ("x = cuda.syncthreads(); c[0, 0] = x + 1", "None stands where a value is needed"),
        ("s = cuda.shared.array(4); c[0, 0] = s[0]", "needs the type of its elements too, as in"),
        ("s = np.zeros(4); c[0, 0] = s[0]", "np.zeros makes a new array, and a kernel cannot"),
        ("c[0, 0] = np.max(a)", "np.max of a whole array is not available in a kernel: write"),
        ("c[0, 0] = np.where(row > 1, 1, 0)", "np.where is not available in a kernel: write x if"),
        ("c[0, 0] = math.exp(a)", "math.exp takes one number, and this is a whole array"),
        ("for k in c.shape[0]: c[k, 0] = 1", "a loop cannot run over a number: write range(n)"),
        ("d = cuda.to_device(a)", "cuda.to_device is for the host: call it before or after the"),
        ("cuda.synchronize()", "cuda.synchronize is for the host: call it before or after the"),
        ("table[0, 0] = 1", "the array is read-only, as one that the launch is not given is a"),
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


def test_an_exception_caught_in_a_kernel() -> None:
    """`except IndexError` is told as `except` alone is."""
    for caught in ("IndexError", "Exception", ""):
        found = sentence(f"try: c[0, 0] = 1\n    except {caught}: pass")
        assert "try has no meaning in a kernel: test before you act" in found


@pytest.mark.parametrize(
    ("statement", "value"),
    [("float('inf')", np.inf), ("-float('inf')", -np.inf), ("float('1.5')", 1.5)],
)
def test_a_float_of_a_text(statement: str, value: float) -> None:
    """numba-cuda reads the text when it compiles; so does the simulator."""
    names = {"cuda": cuda}
    exec(f"@cuda.jit\ndef kernel(c):\n    c[0] = {statement}\n", names)
    out = np.zeros(1)
    simulate(names["kernel"], 1, 1, out)
    assert out[0] == value


def test_a_float_of_a_text_that_is_no_number() -> None:
    """It is refused with its line."""
    names = {"cuda": cuda}
    exec("@cuda.jit\ndef kernel(c):\n    c[0] = float('abc')\n", names)
    with pytest.raises(UnsupportedError, match=r"line 3: float\('abc'\): the text is no number"):
        simulate(names["kernel"], 1, 1, np.zeros(1))


def test_what_is_typed_and_not_run_names_its_line() -> None:
    """The greatest of a whole array, as Python has it."""
    names = {"cuda": cuda}
    exec("@cuda.jit\ndef kernel(c):\n    c[0] = max(c)\n", names)
    with pytest.raises(UnsupportedError, match="line 3: max of a whole array is not run by the"):
        simulate(names["kernel"], 1, 1, np.zeros(1))


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
