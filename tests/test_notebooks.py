"""The workbook's notebooks: nbval passes on the solutions, and fails where nothing is solved."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from wia_lab.puzzles.curriculum import PUZZLES
from wia_lab.workbook import form
from wia_lab.workbook.build import find_drift, read_notebook
from wia_lab.workbook.places import notebook_paths

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS, NOTEBOOKS = ROOT / "solutions", ROOT / "notebooks"
SOURCES = [path.relative_to(SOLUTIONS).as_posix() for path in notebook_paths(SOLUTIONS)]
WITH_CHECKS = [
    name
    for name in SOURCES
    if any(form.checked_puzzles(cell) for cell in read_notebook(SOLUTIONS / name).cells)
]
MARKS = re.compile(rf"^\s*({form.BEGIN}|{form.END}|# STUB:.*)(\n|$)", re.MULTILINE)


def nbval(mode, path, tmp_path):
    """Run `pytest MODE PATH` as a learner would; return for each code cell whether it passed."""
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", mode, "--nbval-current-env", "-p", "no:xdist"]
    command += ["-p", "no:cacheprovider", "-q", f"--junitxml={report}", str(path)]
    # A worker of pytest-xdist must not make its child believe that it is one, too
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    cases = ET.parse(report).getroot().iter("testcase")
    passed = [len(case.findall("*")) == 0 for case in cases]
    cells = [cell for cell in read_notebook(path).cells if cell.cell_type == "code"]
    assert len(passed) == len(cells), done.stdout
    return dict(zip((cell.id for cell in cells), passed, strict=True)), done


def check_cells(name):
    """Return the names of a notebook's check cells."""
    cells = read_notebook(SOLUTIONS / name).cells
    return [cell.id for cell in cells if form.checked_puzzles(cell)]


class TestForm:
    """What every notebook holds."""

    def test_no_drift(self):
        """notebooks/ is what solutions/ gives, and every source was run."""
        assert [drift.message for drift in find_drift(SOLUTIONS, NOTEBOOKS)] == []

    @pytest.mark.parametrize("puzzle", PUZZLES.values(), ids=PUZZLES)
    def test_every_puzzle_has_its_notebook(self, puzzle):
        """One answer named `answer`, one check of this puzzle, and a word about hints."""
        cells = read_notebook(SOLUTIONS / f"{puzzle.stem}.ipynb").cells
        assert [cell.id for cell in cells if form.is_answer(cell)] == ["answer"]
        assert sum((form.checked_puzzles(cell) for cell in cells), []) == [puzzle.id]
        assert any(f'hint("{puzzle.id}")' in cell.source for cell in cells)

    @pytest.mark.parametrize("puzzle", PUZZLES.values(), ids=PUZZLES)
    def test_points_are_those_of_the_puzzle(self, puzzle):
        """nbgrader's points of the check are what the puzzle's judge can give."""
        cells = read_notebook(SOLUTIONS / f"{puzzle.stem}.ipynb").cells
        [check] = [cell for cell in cells if form.checked_puzzles(cell)]
        worth = puzzle.points + sum(gate.points for gate in puzzle.gates)
        assert check.metadata.nbgrader.points == worth


class TestNbval:
    """nbval is the learner's and the author's self-check."""

    @pytest.mark.parametrize("name", SOURCES)
    def test_solutions_give_their_stored_outputs(self, name, tmp_path):
        """`pytest --nbval` runs a solution and finds every stored output again."""
        passed, done = nbval("--nbval", SOLUTIONS / name, tmp_path)
        assert [cell for cell, ok in passed.items() if not ok] == [], done.stdout
        assert done.returncode == 0

    @pytest.mark.parametrize("name", WITH_CHECKS)
    def test_unsolved_fails_at_every_check(self, name, tmp_path):
        """`pytest --nbval-lax` on a notebook as delivered fails at each check cell."""
        passed, done = nbval("--nbval-lax", NOTEBOOKS / name, tmp_path)
        assert [passed[cell] for cell in check_cells(name)] == [False] * len(check_cells(name))
        assert done.returncode == 1

    @pytest.mark.parametrize("name", WITH_CHECKS)
    def test_answered_passes(self, name, tmp_path):
        """With the answers filled in, every cell of the learner's notebook passes."""
        answers = {c.id: c.source for c in read_notebook(SOLUTIONS / name).cells}
        notebook = read_notebook(NOTEBOOKS / name)
        for cell in notebook.cells:
            if "NotImplementedError" in cell.source:
                cell.source = MARKS.sub("", answers[cell.id])
        path = tmp_path / Path(name).name
        path.write_text(form.text_of(notebook), encoding="utf-8")
        passed, done = nbval("--nbval-lax", path, tmp_path)
        assert [cell for cell, ok in passed.items() if not ok] == [], done.stdout
        assert done.returncode == 0
