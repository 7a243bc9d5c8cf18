"""`check`, as a notebook calls it: silence, one line, or a diagnosis."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import cuda
from wia_lab.cuda.errors import JudgeError
from wia_lab.cuda.judge import HardwareRun
from wia_lab.errors import CheckFailed
from wia_lab.puzzles import check, find, hardware, judge
from wia_lab.puzzles.curriculum import UnknownPuzzleError

START = find("start")


@cuda.jit
def right(out, a):
    """Square what is there."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * a[i]


@cuda.jit
def widened(out, a):
    """Square in float64 and say so."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * a[i] * 1.0


@cuda.jit
def unguarded(out, a):
    """Write past the end."""
    i = cuda.grid(1)
    out[i] = a[i] * a[i]


@cuda.jit
def spins(out, a):
    """Never end."""
    i = cuda.grid(1)
    while out[0] != a[0]:
        i += 1
    out[i] = a[i]


class TestCheck:
    """What the learner sees."""

    def test_a_pass_is_one_line(self, capsys):
        """A right answer gets one line on stdout."""
        check("start", right)
        assert capsys.readouterr().out == "start: passed on 3 inputs.\n"

    def test_a_pass_with_a_note(self, capsys):
        """A warning does not fail the check, and is told."""
        check("start", widened)
        first, note = capsys.readouterr().out.splitlines()
        assert first == "start: passed on 3 inputs."
        line = widened.py_func.__code__.co_firstlineno + 5
        assert note.startswith(f"Note: line {line}: thread 0 of block 0 computes in float64 here")

    def test_what_a_kernel_prints_is_cut(self, capsys):
        """A print left in the kernel speaks for the first input, and not without end."""

        @cuda.jit
        def talks(out, a):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = a[i] * a[i]
                print("thread", i)

        check("start", talks)
        *lines, last, passed = capsys.readouterr().out.splitlines()
        assert lines == [f"thread {i}" for i in range(32)]
        first, *_ = START.cases(np.random.default_rng(28))
        assert last.startswith(f"… and {first.arguments['a'].size - 32:,} more lines with")
        assert passed == "start: passed on 3 inputs."

    def test_a_failure_names_input_thread_and_line(self):
        """The diagnosis says what, where and how to mend it; it is an AssertionError."""
        with pytest.raises(AssertionError) as caught:
            check("start", unguarded)
        assert isinstance(caught.value, CheckFailed)
        line = unguarded.py_func.__code__.co_firstlineno + 4
        assert str(caught.value) == (
            "start is not right yet.\n"
            f"With 307 elements: line {line}: thread 51 of block 2 reads a[307], but a ends at "
            "306: guard the access with `if i < a.size`, where i is the index.\n"
            "There is 1 more hazard: simulate() lists all in report.hazards."
        )

    def test_jupyter_shows_the_diagnosis_alone(self):
        """No traceback through the judge, in which no line is the learner's."""
        assert CheckFailed("x is not right yet.")._render_traceback_() == [
            "CheckFailed: x is not right yet."
        ]

    def test_long_lines_end_between_words(self):
        """JupyterLab would break them inside a word; set-in lines, which are code, stay whole."""
        code = "    " + "x = 1; " * 20
        shown = CheckFailed(f"{'thread ' * 30}\n\n{code}")._render_traceback_()
        assert max(map(len, shown[:-1])) <= 96
        assert set(" ".join(shown[:-2]).split()) == {"CheckFailed:", "thread"}
        assert shown[-2:] == ["", code]

    def test_unknown_puzzle(self):
        """A misspelt id is answered with the nearest."""
        with pytest.raises(UnknownPuzzleError, match="did you mean 'start'"):
            check("strat", right)

    def test_endless_waiting_is_found(self):
        """A loop whose condition nobody will change is an error, not a hang."""
        assert judge(START, spins, on_hardware=False).diagnosis.kind == "no-progress"

    @pytest.mark.parametrize(
        ("loop", "lines"),
        [
            ("while True:\n        out[0] = 1", {5, 6}),
            ("while True:\n        pass", {5, 6}),
            (
                "k = 0\n    while k < 10:\n        if i < out.size:\n            out[i] = a[i]",
                {6, 7, 8},
            ),
        ],
        ids=["while-true", "while-true-pass", "counter-forgotten"],
    )
    def test_a_loop_that_never_ends_is_stopped(self, loop, lines):
        """A loop that goes on for ever is stopped after seconds, with a line of the loop."""
        source = f"@cuda.jit\ndef square(out, a):\n    i = cuda.grid(1)\n    {loop}\n"
        source = f"\n{source}"
        namespace = {"cuda": cuda}
        exec(source, namespace)
        found = judge(START, namespace["square"], on_hardware=False).diagnosis
        assert found.kind == "no-progress"
        assert found.line in lines
        assert "look for a loop that never ends" in found.text


class TestHardware:
    """The second judge, its process replaced."""

    @pytest.fixture
    def gpu(self, monkeypatch):
        """Let the GPU give what the simulator gave, changed by a function."""

        def install(change):
            def run(kernel, grid, block, args, **_):
                left = tuple(each.copy() for each in args)
                left[0][:] = left[1].astype(np.float32) ** 2
                return change(HardwareRun(left, 1e-5, None))

            monkeypatch.setattr(hardware, "run_on_hardware", run)

        return install

    def test_agreement_is_a_note(self, gpu):
        """Equal results are said to be equal."""
        gpu(lambda run: run)
        verdict = judge(START, right, on_hardware=True)
        assert verdict.passed
        assert verdict.notes == ("The GPU agrees, bit for bit.",)

    def test_rounding_is_explained(self, gpu):
        """A difference within rounding passes, with its size and its reason."""

        def nudge(run):
            run.arguments[0][:] = np.nextafter(run.arguments[0], np.float32(2))
            return run

        gpu(nudge)
        verdict = judge(START, right, on_hardware=True)
        assert verdict.passed
        [note] = verdict.notes
        assert note.startswith("The GPU agrees, to ")
        assert note.endswith("hardware rounds a·b + c once (fused), the simulator rounds twice.")

    def test_a_difference_names_cell_and_values(self, gpu):
        """A difference beyond rounding fails the check: cell, both values, how many."""

        def spoil(run):
            run.arguments[0][7] = 5
            return run

        gpu(spoil)
        verdict = judge(START, right, on_hardware=True)
        a = START.cases(np.random.default_rng(28))[0].arguments["a"]
        assert verdict.diagnosis.kind == "hardware"
        assert verdict.diagnosis.text == (
            f"With 512 elements: out[7] is 5 on the GPU and {a[7] * a[7]:.6g} on the simulator; "
            "1 of 512 cells differ by more than rounding (hardware rounds a·b + c once (fused), "
            "the simulator rounds twice)."
        )

    def test_nan_on_the_gpu_is_a_difference(self, gpu):
        """A cell that the GPU left unwritten is no agreement."""

        def forget(run):
            run.arguments[0][3] = np.nan
            return run

        gpu(forget)
        assert "out[3] is nan on the GPU" in judge(START, right, on_hardware=True).diagnosis.text

    def test_what_went_wrong_there_is_passed_on(self, gpu):
        """A killed or failed launch fails the check with its sentence."""
        gpu(lambda _: HardwareRun(None, None, "on the GPU the kernel had not ended after 30 s"))
        assert judge(START, right, on_hardware=True).diagnosis.text == (
            "With 512 elements: on the GPU the kernel had not ended after 30 s. The simulator "
            "found nothing wrong with it."
        )

    def test_a_kernel_that_cannot_be_sent(self, monkeypatch):
        """What the judge's process cannot take is said in its own words."""

        def refuse(*_, **__):
            raise JudgeError("square cannot be sent to the hardware judge")

        monkeypatch.setattr(hardware, "run_on_hardware", refuse)
        assert "cannot be sent" in judge(START, right, on_hardware=True).diagnosis.text

    def test_not_asked_when_the_simulator_found_an_error(self, monkeypatch):
        """A wrong kernel never reaches the GPU."""
        monkeypatch.setattr(hardware, "run_on_hardware", lambda *_, **__: pytest.fail("launched"))
        assert judge(START, unguarded, on_hardware=True).diagnosis.kind == "out-of-bounds"

    def test_the_simulator_alone_by_default(self):
        """Without a GPU nothing is said of one."""
        assert not hardware.is_present()
        assert judge(START, right).notes == ()
