"""What is no kernel is refused before it runs, in one sentence that says what to do."""

from __future__ import annotations

import types

import numba
import pytest

from wia_lab import cuda
from wia_lab.puzzles import find
from wia_lab.puzzles.answer import RefusedError, kernel_function

START = find("start")
MATMUL = find("tiled-matmul")


def refusal(answer, puzzle=START):
    """Why an answer is refused before it runs."""
    with pytest.raises(RefusedError) as caught:
        kernel_function(puzzle, answer)
    return caught.value.diagnosis


def plain(out, a):
    """No kernel: the decorator is missing."""
    out[0] = a[0]


@cuda.jit
def fine(out, a):
    """Store something."""
    out[0] = a[0]


@cuda.jit
def renamed(result, source):
    """Store something under other names."""
    result[0] = source[0]


class TestNotAKernel:
    """Things that cannot be launched."""

    @pytest.mark.parametrize("nothing", [None, ...])
    def test_nothing(self, nothing):
        """The result of a call, or an ellipsis, is not the function itself."""
        assert refusal(nothing).text == (
            f"the check got {nothing!r} instead of a kernel: run the cell that defines square, "
            'then check("start", square) with no parentheses after square'
        )

    def test_undecorated(self):
        """A plain function needs @cuda.jit, and its line is named."""
        found = refusal(plain)
        assert found.text == ("square is a plain Python function: add @cuda.jit above def square")
        assert found.line == plain.__code__.co_firstlineno

    @pytest.mark.parametrize("decorator", [numba.jit, numba.njit])
    def test_for_the_cpu(self, decorator):
        """A function under Numba's other decorators is no kernel on a GPU."""
        found = refusal(decorator(plain))
        assert found.text == "Numba compiles square for the CPU: write @cuda.jit above it"
        assert found.line == plain.__code__.co_firstlineno

    def test_string(self):
        """Any other object is named by its type."""
        assert refusal("square").text == (
            "the check got a str instead of a kernel: pass the function square that stands "
            "under @cuda.jit"
        )

    def test_configured(self):
        """A kernel with a launch configuration is not what the check takes."""
        assert refusal(fine[1, 32]).text == (
            "pass square without [grid, block]: the check chooses its own launches"
        )

    def test_device_function(self):
        """A device function cannot be launched."""

        @cuda.jit(device=True)
        def helper(out, a):
            return out[0] + a[0]

        assert refusal(helper).text == (
            "square is a device function: write @cuda.jit without device=True"
        )


class TestSignature:
    """The number and order of parameters."""

    def test_too_few(self):
        """Another number of parameters is refused with the expected signature."""
        assert refusal(fine, MATMUL).text == (
            "fine(out, a) has 2 parameters, but the check calls tiled_matmul(a, b, c): "
            "write def tiled_matmul(a, b, c):"
        )

    def test_other_order(self):
        """The right names in another order would take inputs for outputs."""

        @cuda.jit
        def square(a, out):
            out[0] = a[0]

        assert refusal(square).text == (
            "square(a, out) has its parameters in another order than the check passes them: "
            "write def square(out, a):"
        )

    def test_other_names(self):
        """Other names are the learner's business."""
        assert kernel_function(START, renamed) is renamed.py_func


class TestStub:
    """A body that nobody has written."""

    def test_untouched(self):
        """The stub as the notebook has it."""

        @cuda.jit
        def square(out, a):
            # about 3 lines
            # YOUR CODE HERE
            raise NotImplementedError

        found = refusal(square)
        assert found.kind == "stub"
        assert found.text == (
            "square is still the stub: write your answer where it says YOUR CODE HERE, "
            'under that name, and run its cell, or ask hint("start").'
        )

    def test_answer_written_and_the_stubs_last_line_left(self):
        """What is in the way is named by its line, not taken for an answer not begun."""

        @cuda.jit
        def square(out, a):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = a[i] * a[i]
            raise NotImplementedError

        found = refusal(square)
        line = square.py_func.__code__.co_firstlineno + 5
        assert (found.kind, found.line) == ("stub", line)
        assert found.text == (
            f"line {line} still raises NotImplementedError, as the stub did: delete that line, "
            "your answer stands beside it"
        )

    def test_only_declarations(self):
        """Shared arrays and indices alone store nothing."""

        @cuda.jit
        def square(out, a):
            """Say something."""
            t = cuda.threadIdx.x
            i = t + 1  # noqa: F841

        assert refusal(square).kind == "stub"

    def test_a_store_is_an_answer(self):
        """Any store is judged by what it does."""
        assert kernel_function(START, fine) is fine.py_func


class TestNames:
    """Names that no cell defined, and functions defined twice."""

    def test_undefined_constant(self):
        """A notebook run out of order: the constant's cell is still to come."""

        @cuda.jit
        def square(out, a):
            out[0] = a[0] + NOT_YET  # noqa: F821

        line = square.py_func.__code__.co_firstlineno + 2
        found = refusal(square)
        assert (found.kind, found.line) == ("undefined-name", line)
        assert found.text == (
            f"line {line}: NOT_YET is not defined: run the cells above this one first (Run > Run "
            "All Above Selected Cell), or define NOT_YET before the kernel runs"
        )

    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ("tiel", "tile"),
            ("otu", "out"),
            ("TiLE", "tile"),
            ("HIDTH", "WIDTH"),
            ("rnage", "range"),
        ],
    )
    def test_misspelt(self, written, meant):
        """A name near one of the kernel's own, the notebook's or Python's: that is asked first."""
        source = f"def square(out, a):\n    tile = a[0]\n    out[0] = tile + {written}\n"
        namespace = {"WIDTH": 3}
        exec(compile(source, "cell.py", "exec"), namespace)
        found = refusal(cuda.jit(namespace["square"]))
        assert found.text.startswith(f"line 3: {written} is not defined: did you mean {meant}? If")

    def test_pasted_twice(self, tmp_path):
        """Two definitions in one cell: the learner edits one, and the other counts."""
        source = (
            "from wia_lab import cuda\n" + "@cuda.jit\ndef square(out, a):\n    out[0] = a[0]\n" * 2
        )
        path = tmp_path / "cell.py"
        path.write_text(source)
        namespace = {}
        exec(compile(source, str(path), "exec"), namespace)
        found = refusal(namespace["square"])
        assert found.kind == "duplicate"
        assert found.text == (
            "square is defined on lines 3 and 6 of one cell, and only the last counts: keep one"
        )

    def test_without_source(self):
        """A kernel typed where Python keeps no source is judged all the same."""
        namespace = {"cuda": cuda}
        exec("@cuda.jit\ndef square(out, a):\n    out[0] = a[0]\n", namespace)
        assert isinstance(kernel_function(START, namespace["square"]), types.FunctionType)
