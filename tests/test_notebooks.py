"""The workbook's notebooks: nbval passes on the solutions, and fails where nothing is solved."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from wia_lab.puzzles.curriculum import every
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


def nbval(mode, folder):
    """Run `pytest MODE FOLDER` as an author would.

    Returns
    -------
    dict
        A notebook's name → its code cells' names → whether the cell passed.
    str
        What pytest printed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        command = [sys.executable, "-m", "pytest", mode, "--nbval-current-env", "-p", "no:xdist"]
        command += ["-p", "no:cacheprovider", "-q", "-o", "junit_family=xunit1"]
        command += ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
        # A worker of pytest-xdist must not make its child believe that it is one, too
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        done = subprocess.run(
            [*command, f"--junitxml={report}", str(folder)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
        )
        cases = list(ET.parse(report).getroot().iter("testcase"))
    results = {}
    for path in notebook_paths(folder):
        file = Path(os.path.relpath(path, ROOT)).as_posix()
        passed = [len(case.findall("*")) == 0 for case in cases if case.get("file") == file]
        cells = [cell.id for cell in read_notebook(path).cells if cell.cell_type == "code"]
        results[path.relative_to(folder).as_posix()] = dict(zip(cells, passed, strict=True))
    return results, done.stdout


@pytest.fixture
def answered(tmp_path):
    """Return a folder with the learner's notebooks, the answers filled in."""
    folder = tmp_path / "answered"
    for name in WITH_CHECKS:
        answers = {cell.id: cell.source for cell in read_notebook(SOLUTIONS / name).cells}
        notebook = read_notebook(NOTEBOOKS / name)
        for cell in notebook.cells:
            if "NotImplementedError" in cell.source:
                cell.source = MARKS.sub("", answers[cell.id])
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(form.text_of(notebook), encoding="utf-8")
    return folder


def failures(results):
    """Return the cells that failed, by notebook; a notebook without any is left out."""
    failed = {
        name: [cell for cell, passed in cells.items() if not passed]
        for name, cells in results.items()
    }
    return {name: cells for name, cells in failed.items() if cells}


def check_cells(name):
    """Return the names of a notebook's check cells."""
    cells = read_notebook(SOLUTIONS / name).cells
    return [cell.id for cell in cells if form.checked_puzzles(cell)]


class TestForm:
    """What every notebook holds."""

    def test_no_drift(self):
        """notebooks/ is what solutions/ gives, and every source was run."""
        assert [drift.message for drift in find_drift(SOLUTIONS, NOTEBOOKS)] == []

    @pytest.mark.parametrize("puzzle", every(), ids=lambda puzzle: puzzle.id)
    def test_every_puzzle_has_its_notebook(self, puzzle):
        """One answer named `answer`, one check of this puzzle, and a word about hints."""
        cells = read_notebook(SOLUTIONS / f"{puzzle.stem}.ipynb").cells
        assert [cell.id for cell in cells if form.is_answer(cell)] == ["answer"]
        assert sum((form.checked_puzzles(cell) for cell in cells), []) == [puzzle.id]
        assert any(f'hint("{puzzle.id}")' in cell.source for cell in cells)

    @pytest.mark.parametrize("puzzle", every(), ids=lambda puzzle: puzzle.id)
    def test_points_are_those_of_the_puzzle(self, puzzle):
        """nbgrader's points of the check are what the puzzle's judge can give."""
        cells = read_notebook(SOLUTIONS / f"{puzzle.stem}.ipynb").cells
        [check] = [cell for cell in cells if form.checked_puzzles(cell)]
        worth = puzzle.points + sum(gate.points for gate in puzzle.gates)
        assert check.metadata.nbgrader.points == worth


class TestNbval:
    """nbval is the learner's and the author's self-check; one run a mode serves all notebooks."""

    def test_solutions_give_their_stored_outputs(self):
        """`pytest --nbval solutions` runs each solution and finds every stored output again."""
        results, printed = nbval("--nbval", SOLUTIONS)
        assert sorted(results) == SOURCES
        assert failures(results) == {}, printed

    def test_unsolved_fails_at_every_check(self):
        """`pytest --nbval-lax notebooks` fails at each check cell of a notebook as delivered."""
        results, printed = nbval("--nbval-lax", NOTEBOOKS)
        failed = failures(results)
        missed = {name: set(check_cells(name)) - set(failed.get(name, [])) for name in WITH_CHECKS}
        assert missed == {name: set() for name in WITH_CHECKS}, printed

    def test_answered_passes(self, answered):
        """With the answers filled in, every cell of the learner's notebooks passes."""
        results, printed = nbval("--nbval-lax", answered)
        assert sorted(results) == WITH_CHECKS
        assert failures(results) == {}, printed
