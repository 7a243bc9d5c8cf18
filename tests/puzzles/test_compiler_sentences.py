"""A compiler's error becomes one sentence and a line of the learner's."""

from __future__ import annotations

import linecache

import pytest
from numba import float32

from wia_lab import cuda
from wia_lab.puzzles import find, judge
from wia_lab.puzzles.compiler import compiler_sentence

KERNEL = """
@cuda.jit
def square(out, a):
    i = cuda.grid(1)
    {}
"""


def diagnosis(statement, name):
    """What the check says of a kernel with one statement, on line 5."""
    source = KERNEL.format(statement)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"cuda": cuda, "float32": float32}
    exec(compile(source, name, "exec"), namespace)
    return judge(find("start"), namespace["square"], on_hardware=False).diagnosis


@pytest.mark.parametrize(
    "statement",
    [
        "out[i] = a[i].foo",
        "out[i] = 'x'",
        "out[i] = a[i]; return i",
        "out[i] = u; u = 3",
        "s = cuda.shared.array(i, float32); s[0] = 1",
        "out[i] = a[i] + 'x'",
        "cuda.syncthreads(3); out[i] = 0",
        "out[i] = [1, 2][0]",
        "out[i] = a(i)",
        "print(a); out[i] = 0",
    ],
)
def test_usual_slips_get_their_line_and_one_sentence(statement):
    """Each slip gets the line and one sentence, without Numba's stages and candidates."""
    found = diagnosis(statement, "/cells/answer.py")
    assert (found.kind, found.line) == ("typing", 5)
    assert found.text.startswith("Line 5 cannot be compiled: ")
    assert "\n" not in found.text
    assert not found.text.endswith("..")
    assert "Failed in" not in found.text


class TestSentence:
    """The opening of the front end's messages."""

    def test_of_the_kernels_file(self):
        """Line and sentence come apart, and Numba's text goes."""
        error = RuntimeError("a.py:3: in square, float32 has no foo.\n\nFailed in cuda mode")
        assert compiler_sentence(error, "/home/x/a.py") == ("float32 has no foo", 3)

    def test_of_another_file(self):
        """A line of another file is no line of the learner's, and keeps its place."""
        error = RuntimeError("helper.py:3: in fetch, float32 has no foo.")
        assert compiler_sentence(error, "/home/x/a.py") == (
            "helper.py:3: in fetch, float32 has no foo",
            None,
        )

    def test_of_another_form(self):
        """Any other message gives its first line."""
        assert compiler_sentence(RuntimeError("Bad thing.\nMore."), "a.py") == ("Bad thing", None)
