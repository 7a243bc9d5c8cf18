"""How an error of the package is shown in a notebook: the sentence, and the learner's line."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import check, cuda, simulate
from wia_lab.errors import CheckFailed, HazardError, LaunchError, WiaLabError


@cuda.jit
def fill(o):
    """Past the end from thread 3 on."""
    o[cuda.grid(1)] = 1


def shown(error: WiaLabError) -> list[str]:
    """The lines that Jupyter prints."""
    return error._render_traceback_()


class TestShown:
    """No line from inside wia_lab, and the user's own last one."""

    def test_a_launch_s_hazard(self):
        with pytest.raises(HazardError) as caught:
            fill[1, 32](np.zeros(3))
        first, *_, last = shown(caught.value)
        assert first.startswith("HazardError: line 15: thread 3 of block 0 writes o[3], but o ends")
        assert last.endswith(": fill[1, 32](np.zeros(3))")
        assert last.startswith("raised by line ")

    def test_a_refused_launch(self):
        def launch():
            return simulate(fill, 1, 4000, np.zeros(3))

        with pytest.raises(LaunchError) as caught:
            launch()
        assert shown(caught.value)[-1].endswith(": return simulate(fill, 1, 4000, np.zeros(3))")

    def test_an_unknown_puzzle(self):
        with pytest.raises(WiaLabError) as caught:
            check("first-kernl", fill)
        told = " ".join(shown(caught.value))
        assert "did you mean 'first-kernel'?" in told
        assert 'check("first-kernl", fill)' in told

    def test_one_that_was_never_raised(self):
        assert shown(WiaLabError("why")) == ["WiaLabError: why"]

    def test_a_failed_check_has_no_line(self):
        with pytest.raises(CheckFailed) as caught:
            check("first-kernel", 5)
        assert not any(line.startswith("raised by") for line in shown(caught.value))


class TestIncompleteChecks:
    """`check` with one argument, or with another puzzle's kernel."""

    def test_without_the_answer(self):
        with pytest.raises(CheckFailed) as caught:
            check("6")
        assert str(caught.value) == (
            'check takes your answer too: write check("tiled-matmul", tiled_matmul)'
        )

    def test_without_the_name(self):
        with pytest.raises(CheckFailed, match="check takes the puzzle's name first"):
            check(fill)

    def test_another_puzzle_s_kernel(self):
        @cuda.jit
        def vector_add(out, a, b):
            out[0] = a[0] + b[0]

        with pytest.raises(CheckFailed) as caught:
            check("tiled-matmul", vector_add)
        assert (
            str(caught.value)
            .splitlines()[1]
            .startswith(
                "vector_add is what first-kernel asks for: pass tiled_matmul here, or write "
                'check("first-kernel", vector_add)'
            )
        )

    def test_a_right_one_under_another_name_passes(self, capsys):
        @cuda.jit
        def square(out, a, b):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = a[i] + b[i]

        check("first-kernel", square)
        assert "first-kernel: passed" in capsys.readouterr().out
