"""Every wrong answer gets the diagnosis meant for it, every right one passes: the judge's judge."""

from __future__ import annotations

import re

import pytest

from wia_lab.puzzles import PUZZLES, check_mutants, judge
from wia_lab.puzzles.checking import passing_text
from wia_lab.puzzles.curriculum import every
from wia_lab.puzzles.mutants import (
    ROOT,
    Outcome,
    Promise,
    load_answer,
    notebook_answer,
    read_promise,
)
from wia_lab.puzzles.puzzle import Puzzle

FOLDER = ROOT / "tests" / "mutants"
FILES = [path for name in PUZZLES for path in sorted((FOLDER / name).rglob("*.py"))]
KERNELS = [puzzle for puzzle in PUZZLES.values() if isinstance(puzzle, Puzzle)]
FIRST_TWELVE = [puzzle for puzzle in every() if 1 <= puzzle.number <= 12]
KINDS = {"wrong-value", "unwritten", "gate", "race", "out-of-bounds"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: "/".join(p.relative_to(FOLDER).parts))
def test_answer_gets_what_it_must(path):
    """The verdict has the kind, line and cause that the file's docstring promises."""
    puzzle = PUZZLES[path.relative_to(FOLDER).parts[0]]
    verdict = judge(puzzle, load_answer(path, puzzle.function), on_hardware=False)
    outcome = Outcome(puzzle.id, path.stem, read_promise(path), verdict)
    assert outcome.kept, f"{outcome}\n{verdict.diagnosis and verdict.diagnosis.text}"


def test_who_returned_early_is_the_cause_of_what_nobody_wrote():
    """Of the two symptoms of an early return the learner is told the cause as well."""
    puzzle = PUZZLES["tiled-matmul"]
    answer = load_answer(FOLDER / puzzle.id / "early_return.py", puzzle.function)
    text = judge(puzzle, answer, on_hardware=False).diagnosis.text
    assert "which no thread of the block has written" in text.splitlines()[0]
    assert text.splitlines()[1].startswith("Likely cause: line ")
    assert "has returned before" in text.splitlines()[1]


class TestPromises:
    """The wrong answers themselves."""

    @pytest.mark.parametrize("puzzle", PUZZLES.values(), ids=lambda p: p.id)
    def test_enough_of_them(self, puzzle):
        """A puzzle has wrong answers of several kinds, and right ones told apart from its own."""
        promises = [read_promise(path) for path in FOLDER.joinpath(puzzle.id).rglob("*.py")]
        wrong = [promise for promise in promises if not promise.passes]
        assert len(wrong) >= (8 if puzzle.number else 5)
        assert len(promises) - len(wrong) >= (3 if puzzle.number else 2)
        assert puzzle not in KERNELS or len({promise.kind for promise in wrong} & KINDS) >= 3

    @pytest.mark.parametrize("puzzle", FIRST_TWELVE, ids=lambda p: p.id)
    def test_enough_of_them_blind(self, puzzle):
        """Six or more were written from the page alone, in two rounds but for 03; all are wrong."""
        blind = sorted((FOLDER / puzzle.id / "blind").glob("*.py"))
        second = [path for path in blind if path.stem.startswith("second_")]
        assert len(blind) - len(second) >= 6
        assert len(second) >= 6 or puzzle.number == 3
        assert not any(read_promise(path).passes for path in blind)

    @pytest.mark.parametrize("path", FILES, ids=lambda p: "/".join(p.relative_to(FOLDER).parts))
    def test_line_holds_an_instruction(self, path):
        """A promised line is inside the kernel, and no blank or comment."""
        line = read_promise(path).line
        if line is not None:
            text = path.read_text(encoding="utf-8").splitlines()[line - 1]
            assert re.match(r" {4,}[^#\s]", text), text

    def test_line_must_match(self):
        """A promise of another line, cause or kind is not kept."""
        path = FOLDER / "start" / "copies.py"
        verdict = judge(PUZZLES["start"], load_answer(path, "square"), on_hardware=False)
        kept = read_promise(path)
        assert kept.is_kept_by(verdict)
        assert not Promise(False, kept.kind, kept.line + 1, kept.cause).is_kept_by(verdict)
        assert not Promise(False, kept.kind, kept.line, "other").is_kept_by(verdict)
        assert not Promise(False, "race").is_kept_by(verdict)
        assert not Promise(True).is_kept_by(verdict)

    def test_docstring_is_asked_for(self, tmp_path):
        """A file without a promise is refused by name."""
        path = tmp_path / "x.py"
        path.write_text('"""Wrong."""\n')
        with pytest.raises(ValueError, match="must begin with 'MUST GET: ' or 'MUST PASS.'"):
            read_promise(path)


class TestNotebooks:
    """Stub and solution, as the notebooks have them."""

    @pytest.mark.parametrize("puzzle", PUZZLES.values(), ids=lambda p: p.id)
    def test_stub_fails(self, puzzle):
        """What a learner starts from is refused as a stub."""
        stub = notebook_answer(ROOT / "notebooks" / f"{puzzle.stem}.ipynb", puzzle.function)
        assert judge(puzzle, stub).diagnosis.kind == "stub"

    @pytest.mark.parametrize("puzzle", KERNELS, ids=lambda p: p.id)
    def test_solution_passes_with_margin(self, puzzle):
        """The official answer passes without a note, and well inside its gates."""
        answer = notebook_answer(ROOT / "solutions" / f"{puzzle.stem}.ipynb", puzzle.function)
        verdict = judge(puzzle, answer, on_hardware=False)
        assert verdict.passed
        assert verdict.notes == ()
        for gate in puzzle.gates:
            for run in (run for run in verdict.runs if run.case.measured):
                yours = gate.measure(run)
                if gate.at_most is not None and gate.at_most(run.case):
                    assert yours <= 0.95 * gate.at_most(run.case), gate.name

    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_solution_passes_with_other_seeds(self, seed):
        """A grader's inputs are not the notebook's."""
        for puzzle in KERNELS:
            answer = notebook_answer(ROOT / "solutions" / f"{puzzle.stem}.ipynb", puzzle.function)
            assert judge(puzzle, answer, seed=seed, on_hardware=False).passed


class TestNaive:
    """The figures that gates call naive are those of the naive kernels."""

    @pytest.mark.parametrize(
        ("name", "file"),
        [("tiled-matmul", "no_shared_memory.py"), ("async-convolution", "no_tile.py")],
    )
    def test_naive_is_what_the_plain_kernel_counts(self, name, file):
        """Gates print the plain kernel's own counts."""
        puzzle = PUZZLES[name]
        answer = load_answer(FOLDER / name / file, puzzle.function)
        verdict = judge(puzzle, answer, on_hardware=False)
        [run] = [run for run in verdict.runs if run.case.measured]
        for gate in puzzle.gates:
            assert gate.measure(run) == gate.naive(run.case), gate.name


def test_check_mutants_prints_the_kill_rate(capsys):
    """The command's function judges one puzzle's answers and prints the share refused."""
    assert check_mutants("start")
    said = capsys.readouterr().out
    assert "ok  start/stub: stub, line 1" in said
    assert "refused with their diagnosis (100%), 3 of 3 right ones pass" in said


def test_passing_text_has_every_gate():
    """The line of a pass has each gate's naive, target and own figure."""
    puzzle = PUZZLES["tiled-matmul"]
    answer = notebook_answer(ROOT / "solutions" / f"{puzzle.stem}.ipynb", puzzle.function)
    verdict = judge(puzzle, answer, on_hardware=False)
    assert passing_text(puzzle, verdict) == (
        "tiled-matmul: passed on 5 inputs. global load sectors: naive 30,720, target at most "
        "4,224, yours 3,840. shared load wavefronts: naive 0, target at least 7,680, yours 15,360."
    )
