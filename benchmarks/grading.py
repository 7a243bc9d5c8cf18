"""A small class graded by `wia-lab grade` and by nbgrader's autograde, in one run.

Needs a clone, its environment, and the command of an environment that has nbgrader and this
package. The students are made up: in turn one hands in the solutions, the stubs, wrong answers of
tests/mutants, and stubs whose answer cell puts another function in the place of `check`.

    python benchmarks/grading.py /path/to/nbgrader [STUDENTS [PUZZLE ...]]

Without a PUZZLE, all of them. Points are printed of each answer, and their sums.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from wia_lab.puzzles.curriculum import every, find

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("solution", "stub", "wrong", "check replaced")
ASSIGNMENT = "wia-lab"
REPLACED = "check = lambda *answers: None\n"
EMPTY = """\
{"cells": [{"cell_type": "code", "execution_count": null, "id": "one", "metadata": {},
"outputs": [], "source": "x = 1"}], "metadata": {"kernelspec": {"display_name": "Python 3",
"language": "python", "name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}
"""
PUZZLES: dict[str, str] = {}
"""Stem of the notebook of each puzzle that is graded, by id."""

Result = TypeVar("Result")
Points = dict[tuple[str, str], float]  # by student and puzzle


def main() -> None:
    """Make the class, grade it twice, and print the table."""
    nbgrader = Path(sys.argv[1]).absolute()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    puzzles = [find(name) for name in sys.argv[3:]] or every()
    PUZZLES.update((puzzle.id, puzzle.stem) for puzzle in puzzles)
    if not nbgrader.is_file():
        sys.exit(f"{nbgrader} is no file: name the command nbgrader of its environment")
    with tempfile.TemporaryDirectory(prefix="wia-lab-") as name:
        folder = Path(name)
        course = folder / "course"
        names = [word for puzzle in PUZZLES for word in ("--puzzle", puzzle)]
        ours("release", str(course), *names, "--nbgrader")
        said = make_class(course, count)
        run(nbgrader, course, "generate_assignment", ASSIGNMENT)
        mine, took = timed(lambda: grade(folder, course))
        alone, without = timed(lambda: grade(folder, course, "--no-nbval"))
        theirs, autograde = timed(lambda: autograded(nbgrader, course))
        start = nbval_start(folder)
    assert mine == alone
    report(said, mine, theirs)
    print(f"\n{'':36}s     s a student")
    for what, seconds in (
        ("wia-lab grade", took),
        ("wia-lab grade --no-nbval", without),
        ("nbgrader autograde", autograde),
    ):
        print(f"{what:28}{seconds:10.1f}{seconds / count:10.1f}")
    print(f"{'nbval, one cell: x = 1':28}{start:10.1f}")
    print(
        f"\n{dt.datetime.now(dt.UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}, Python {platform.python_version()}, {version(nbgrader)}"
    )


def ours(*words: str) -> None:
    """Run `wia-lab`."""
    subprocess.run(
        [sys.executable, "-m", "wia_lab", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )


def run(nbgrader: Path, course: Path, *words: str) -> str:
    """Run nbgrader, which itself calls alembic by its bare name; return what it printed."""
    path = os.pathsep.join((str(nbgrader.parent), os.environ["PATH"]))
    done = subprocess.run(
        [nbgrader, *words],
        cwd=course,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    # autograde ends with 1 where an answer made a cell fail, as a wrong one should
    if done.returncode and words[0] != "autograde":
        sys.exit(f"nbgrader {' '.join(words)}:\n{done.stderr}")
    return done.stdout


def version(nbgrader: Path) -> str:
    """Return nbgrader's name and version."""
    return f"nbgrader {run(nbgrader, nbgrader.parent, '--version').split()[-1]}"


def make_class(course: Path, count: int) -> dict[tuple[str, str], str]:
    """Write the students' notebooks; return what each answer is."""
    said = {}
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        for puzzle, stem in PUZZLES.items():
            notebook = json.loads((course / "notebooks" / f"{stem}.ipynb").read_text())
            cell = next(each for each in notebook["cells"] if each["id"] == "answer")
            stub = "".join(cell["source"])
            source, what = answer(kind, puzzle, stem, stub, number // len(KINDS))
            cell["source"] = source
            target = course / "submitted" / f"s{number}" / ASSIGNMENT / f"{stem}.ipynb"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(notebook))
            said[f"s{number}", puzzle] = what
    return said


def answer(kind: str, puzzle: str, stem: str, stub: str, turn: int) -> tuple[str, str]:
    """Return an answer's source, and what it is in a word."""
    if kind == "solution":
        cells = json.loads((ROOT / "solutions" / f"{stem}.ipynb").read_text())["cells"]
        return next("".join(each["source"]) for each in cells if each["id"] == "answer"), kind
    if kind == "wrong":
        wrong = sorted((ROOT / "tests" / "mutants" / puzzle).glob("[!p]*.py"))
        path = wrong[(3 + turn) % len(wrong)]
        return path.read_text(), path.stem
    return (stub, kind) if kind == "stub" else (REPLACED + stub, kind)


def timed(step: Callable[[], Result]) -> tuple[Result, float]:
    """Return what a step returned, and its seconds."""
    begun = time.perf_counter()
    return step(), time.perf_counter() - begun


def grade(folder: Path, course: Path, *words: str) -> Points:
    """Grade with wia-lab, from nothing."""
    out = folder / f"out{'-'.join(words)}"
    table = ["--course", str(course / "grading.toml"), "--seed", "1", "--jobs", "1"]
    ours("grade", str(course / "submitted"), "-o", str(out), *table, *words)
    rows = json.loads((out / "gradebook.json").read_text())["students"]
    return {(row["student"], p): row["puzzles"][p]["points"] for row in rows for p in PUZZLES}


def autograded(nbgrader: Path, course: Path) -> Points:
    """Grade with nbgrader."""
    run(nbgrader, course, "autograde", ASSIGNMENT)
    points: Points = {}
    code = (
        "import sys; from nbgrader.api import Gradebook\n"
        "with Gradebook('sqlite:///gradebook.db') as book:\n"
        "    for s in book.assignment_submissions(sys.argv[1]):\n"
        "        for n in s.notebooks: print(s.student.id, n.name, n.score, sep=',')\n"
    )
    path = os.pathsep.join((str(nbgrader.parent), os.environ["PATH"]))
    done = subprocess.run(
        [nbgrader.parent / "python", "-c", code, ASSIGNMENT],
        cwd=course,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    puzzles = {stem: puzzle for puzzle, stem in PUZZLES.items()}
    for student, stem, score in csv.reader(done.stdout.splitlines()):
        points[student, puzzles[stem]] = float(score)
    return points


def nbval_start(folder: Path) -> float:
    """Return the seconds that nbval takes for a notebook of one cell that does nothing."""
    path = folder / "one.ipynb"
    path.write_text(EMPTY)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax"]
    _, took = timed(
        lambda: subprocess.run([*command, path], cwd=folder, check=True, capture_output=True)
    )
    return took


def report(said: dict[tuple[str, str], str], mine: Points, theirs: Points) -> None:
    """Print the points that each gave to each answer."""
    print(f"{'student':9}{'puzzle':21}{'answer':34}{'wia-lab':>8}{'nbgrader':>10}")
    for key, what in said.items():
        given = theirs.get(key, 0.0)
        wrong = "  passed by nbgrader" if given and what != "solution" else ""
        print(f"{key[0]:9}{key[1]:21}{what:34}{mine[key]:8g}{given:10g}{wrong}")
    for kind in KINDS:
        keys = [key for number, key in numbered(said) if KINDS[number % len(KINDS)] == kind]
        sums = [sum(points.get(key, 0.0) for key in keys) for points in (mine, theirs)]
        print(f"{'all':9}{f'{len(keys)} answers':21}{kind:34}{sums[0]:8g}{sums[1]:10g}")


def numbered(said: dict[tuple[str, str], str]) -> list[tuple[int, tuple[str, str]]]:
    """Return each student and puzzle with the student's number."""
    return [(int(key[0].removeprefix("s")), key) for key in said]


if __name__ == "__main__":
    main()
