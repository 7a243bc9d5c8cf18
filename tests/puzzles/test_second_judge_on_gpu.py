"""The solutions and every right answer, judged by the simulator and by a real GPU."""

from __future__ import annotations

import pytest

from wia_lab.cuda import choice
from wia_lab.puzzles import PUZZLES, find, judge
from wia_lab.puzzles.mutants import ROOT, load_answer, notebook_answer, read_promise
from wia_lab.puzzles.puzzle import Puzzle
from wia_lab.settings import BACKEND

pytestmark = pytest.mark.gpu

KERNELS = [puzzle for puzzle in PUZZLES.values() if isinstance(puzzle, Puzzle)]
RIGHT = [
    path
    for puzzle in KERNELS
    for path in sorted((ROOT / "tests" / "mutants" / puzzle.id).rglob("*.py"))
    if read_promise(path).passes
]


@pytest.fixture(autouse=True)
def on_hardware(monkeypatch):
    """Let launches go to the GPU; skip, and say why, where there is none."""
    monkeypatch.delenv(BACKEND, raising=False)
    found = choice.describe_backend()
    if found.backend != "hardware":
        pytest.skip(f"needs a GPU: {found.reason}")


@pytest.mark.parametrize("puzzle", KERNELS, ids=lambda p: p.id)
def test_solution_passes_both_judges(puzzle):
    """The official answer passes, and the GPU agrees to rounding."""
    answer = notebook_answer(ROOT / "solutions" / f"{puzzle.stem}.ipynb", puzzle.function)
    verdict = judge(puzzle, answer)
    assert verdict.passed, verdict.diagnosis.text
    assert any(note.startswith("The GPU agrees") for note in verdict.notes)


@pytest.mark.parametrize("path", RIGHT, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_right_answer_passes_both_judges(path):
    """Answers right in another way pass on the GPU too."""
    puzzle = find(path.parent.name)
    verdict = judge(puzzle, load_answer(path, puzzle.function))
    assert verdict.passed, verdict.diagnosis.text
    assert any(note.startswith("The GPU agrees") for note in verdict.notes)
