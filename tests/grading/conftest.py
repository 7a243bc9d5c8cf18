"""Made-up students: notebooks with an answer of one's own, graded on few puzzles."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from wia_lab.grading import pool
from wia_lab.grading.course import Course, default_course
from wia_lab.grading.grade import Plan, grade_class
from wia_lab.grading.limits import Limits
from wia_lab.grading.sandbox import mode
from wia_lab.puzzles.curriculum import find

ROOT = Path(__file__).resolve().parents[2]
FEW = ("start", "tiled-matmul", "buddy-allocator")


class Made:
    """What the tests make students of."""

    root = ROOT
    few = FEW

    @staticmethod
    def notebook(puzzle: str, folder: str = "notebooks") -> dict:
        """Return the official notebook of a puzzle, or its solution."""
        path = ROOT / folder / f"{find(puzzle).stem}.ipynb"
        return json.loads(path.read_text(encoding="utf-8"))

    @classmethod
    def solution(cls, puzzle: str) -> str:
        """Return the source of the official answer."""
        cells = cls.notebook(puzzle, "solutions")["cells"]
        return next("".join(c["source"]) for c in cells if c["id"] == "answer")

    @classmethod
    def answered(cls, puzzle: str, source: str) -> dict:
        """Return a learner's notebook with an answer in its answer cell."""
        notebook = cls.notebook(puzzle)
        for cell in notebook["cells"]:
            if cell["id"] == "answer":
                cell["source"] = source
        return notebook

    @classmethod
    def put(cls, folder: Path, puzzle: str, source: str | None = None, **changes) -> Path:
        """Write a student's notebook; without a source, the official solution."""
        folder.mkdir(parents=True, exist_ok=True)
        source = cls.solution(puzzle) if source is None else source
        notebook = {**cls.answered(puzzle, source), **changes}
        path = folder / f"{find(puzzle).stem}.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return path

    @classmethod
    def put_class(cls, top: Path, puzzles: list) -> None:
        """Write twelve students: from all right to nothing, with two who wrote the same."""
        names = "Ada,Björn,Chloé,Dmitri,Eve the 2nd,Fatima,Goran,Hana,Ivo,Jun".split(",")
        for number, student in enumerate(names):
            for place, puzzle in enumerate(puzzles):
                wrong = sorted((ROOT / "tests" / "mutants" / puzzle.id).glob("[!p]*.py"))
                if wrong and (number * 7 + place * 3) % 10 < number - 1:
                    source = wrong[(number + place) % len(wrong)].read_text()
                    cls.put(top / student, puzzle.id, source)
                elif (number + place) % 5 < 4:
                    cls.put(top / student, puzzle.id)
        copied = cls.solution("tiled-matmul").replace("total", "acc").replace("tile_a", "left")
        cls.put(top / "Kofi", "tiled-matmul", copied)
        cls.put(top / "Lena", "tiled-matmul", copied.replace("acc", "s"))
        cls.put(top / "Lena", "start", '"""<script>document.title = "x"</script>"""\n')

    @staticmethod
    def course(*names: str) -> Course:
        """Return a course of some puzzles."""
        full = default_course()
        return Course({name: full.puzzles[name] for name in names or FEW})

    @classmethod
    def grade(cls, submissions: Path, out: Path, *, jobs: int = 1, grader=None, **changes) -> list:
        """Grade a folder without nbval; keyword arguments change the plan."""
        options = {"course": cls.course(), "seed": "28", "confinement": mode(), "nbval": False}
        options["limits"] = Limits(seconds=20)
        plan = Plan(submissions=submissions, out=out, **{**options, **changes})
        return grade_class(plan, grader or partial(pool.grade_all, jobs=jobs), lambda _: None)


@pytest.fixture(scope="session")
def made() -> type[Made]:
    """Return the maker of students."""
    return Made
