"""Made-up students: notebooks with an answer of one's own, graded on few puzzles."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from wia_lab.grading import pool, student
from wia_lab.grading.course import Course, default_course
from wia_lab.grading.grade import TIMES, Plan, grade_class
from wia_lab.grading.limits import Limits
from wia_lab.grading.sandbox import Worker, mode
from wia_lab.puzzles.curriculum import find

ROOT = Path(__file__).resolve().parents[2]
WRONG_SQUARE = (
    "from wia_lab import cuda\n\n@cuda.jit\ndef square(out, a):\n    i = cuda.grid(1)\n"
    "    if i < out.size:\n        out[i] = a[i] + a[i]\n"
)
FEW = ("start", "tiled-matmul", "buddy-allocator")


class Kept(Worker):
    """A worker that all students of a session share: starting one takes longer than most answers.

    What one of them does to it, the next would feel. Runs with `jobs=2` start one for each student,
    as `wia-lab grade` does.
    """

    def __exit__(self, *_error):
        pass


class Made:
    """What the tests make students of."""

    root = ROOT
    few = FEW
    workers: dict[str, Kept] = {}

    @classmethod
    def by_one_worker(cls, tasks):
        """Grade students one after the other, in one worker for each way of confining it."""

        def kept(confinement):
            return cls.workers.setdefault(confinement, Kept(confinement))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(student, "Worker", kept)
            yield from map(student.grade_student, tasks)

    wrong_square = WRONG_SQUARE

    @staticmethod
    def contents(out: Path) -> dict[str, bytes]:
        """Return every file of a folder of results that has no time in it."""
        return {
            str(path.relative_to(out)): path.read_bytes()
            for path in sorted(out.rglob("*"))
            if path.is_file() and path.relative_to(out).parts[0] != TIMES
        }

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
        for number, name in enumerate(names):
            for place, puzzle in enumerate(puzzles):
                wrong = sorted((ROOT / "tests" / "mutants" / puzzle.id).glob("[!p]*.py"))
                if wrong and (number * 7 + place * 3) % 10 < number - 1:
                    source = wrong[(number + place) % len(wrong)].read_text()
                    cls.put(top / name, puzzle.id, source)
                elif (number + place) % 5 < 4:
                    cls.put(top / name, puzzle.id)
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
        if grader is None:
            grader = cls.by_one_worker if jobs == 1 else partial(pool.grade_all, jobs=jobs)
        return grade_class(plan, grader, lambda _: None)


@pytest.fixture(scope="session")
def made():
    """Return the maker of students."""
    yield Made
    for worker in Made.workers.values():
        worker.close()


@pytest.fixture
def three(made, tmp_path):
    """Three students: all right, one wrong kernel, stubs only."""
    top = tmp_path / "submissions"
    for puzzle in made.few:
        made.put(top / "anna", puzzle)
        made.put(top / "ben", puzzle, made.wrong_square if puzzle == "start" else None)
        path = made.put(top / "cleo", puzzle)
        path.write_text(json.dumps(made.notebook(puzzle)))
    return top
