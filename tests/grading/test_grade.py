"""Grading a class: what is reused, what lateness costs, what the files say."""

from __future__ import annotations

import csv
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from wia_lab.cli import main
from wia_lab.errors import CannotRun
from wia_lab.grading import course as courses
from wia_lab.grading import grade, official, sandbox, similar, student, worker
from wia_lab.grading.course import Course, Worth
from wia_lab.grading.layouts import collect
from wia_lab.puzzles.curriculum import find

WRONG_SQUARE = (
    "from wia_lab import cuda\n\n@cuda.jit\ndef square(out, a):\n    i = cuda.grid(1)\n"
    "    if i < out.size:\n        out[i] = a[i] + a[i]\n"
)


def contents(out: Path) -> dict[str, bytes]:
    """Return every file of a folder of results that has no time in it."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.relative_to(out).parts[0] != grade.TIMES
    }


@pytest.fixture
def three(made, tmp_path):
    """Three students: all right, one wrong kernel, stubs only."""
    top = tmp_path / "submissions"
    for puzzle in made.few:
        made.put(top / "anna", puzzle)
        made.put(top / "ben", puzzle, WRONG_SQUARE if puzzle == "start" else None)
        path = made.put(top / "cleo", puzzle)
        path.write_text(json.dumps(made.notebook(puzzle)))
    return top


class TestPoints:
    """What earns points."""

    def test_solutions_full_stubs_nothing(self, made, three, tmp_path):
        """Official answers get all points, stubs none, a wrong one only what is right."""
        rows = {row["student"]: row for row in made.grade(three, tmp_path / "out")}
        assert rows["anna"]["total"] == rows["anna"]["possible"] == 10
        assert rows["cleo"]["total"] == 0
        assert rows["ben"]["total"] == 8
        assert rows["ben"]["puzzles"]["start"]["kind"] == "wrong-value"

    def test_partial_credit_by_gate(self, made, tmp_path):
        """A right product without a tile keeps the points for being right."""
        naive = (
            "from numba import float32\nfrom wia_lab import cuda\n\n@cuda.jit\n"
            "def tiled_matmul(a, b, c):\n    column, row = cuda.grid(2)\n"
            "    if row < c.shape[0] and column < c.shape[1]:\n        total = float32(0)\n"
            "        for k in range(a.shape[1]):\n            total += a[row, k] * b[k, column]\n"
            "        c[row, column] = total\n"
        )
        made.put(tmp_path / "in" / "dora", "tiled-matmul", naive)
        [row] = made.grade(tmp_path / "in", tmp_path / "out")
        cell = row["puzzles"]["tiled-matmul"]
        assert (cell["points"], cell["of"]) == (2, 4)
        assert cell["failing"] == "global load sectors"

    def test_missing_entry_is_nothing(self):
        """An entry that the verdict does not hold earns nothing, and only True passes."""
        worth = Worth(6, {"right answer": 1.0, "sectors": 2.0})
        assert worth.earned([("sectors", True)]) == 4
        assert worth.earned([]) == 0
        assert worth.earned([("right answer", 1), ("sectors", "yes")]) == 0


class TestAgain:
    """A second run."""

    def test_same_seed_same_files(self, made, three, tmp_path):
        """One job and two write the same files, byte for byte."""
        made.grade(three, tmp_path / "one")
        made.grade(three, tmp_path / "two", jobs=2)
        assert contents(tmp_path / "one") == contents(tmp_path / "two")

    def test_only_what_changed_is_judged(self, made, three, tmp_path, monkeypatch):
        """A new answer of one student is judged alone; the rest is as it was."""
        out = tmp_path / "out"
        made.grade(three, out)
        made.put(three / "ben", "start")
        judged = []

        def spy(tasks):
            for task in tasks:
                judged.append((task["student"], sorted(task["answers"])))
                yield student.grade_student(task)

        rows = {row["student"]: row for row in made.grade(three, out, grader=spy)}
        assert judged == [("ben", ["start"])]
        assert rows["ben"]["total"] == 10

    def test_goes_on_after_a_stop(self, made, three, tmp_path):
        """What was judged before a stop is kept; the end is as without the stop."""
        made.grade(three, tmp_path / "whole")

        def stopped(tasks):
            yield student.grade_student(next(tasks))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            made.grade(three, tmp_path / "out", grader=stopped)
        judged = []

        def rest(tasks):
            for task in tasks:
                judged.append(task["student"])
                yield student.grade_student(task)

        made.grade(three, tmp_path / "out", grader=rest)
        assert judged == ["ben", "cleo"]
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")

    def test_recorded_seed_is_used(self, made, three, tmp_path):
        """Without --seed a run takes the one recorded, and draws one the first time."""
        out = tmp_path / "out"
        first = grade.settle_seed(out, None)
        assert re.fullmatch("[0-9a-f]{32}", first)
        made.grade(three, out, seed=first)
        assert grade.settle_seed(out, None) == first
        assert grade.settle_seed(out, "7") == "7"

    def test_teachers_points_survive(self, made, three, tmp_path):
        """An override stands after a regrade."""
        out = tmp_path / "out"
        out.mkdir()
        (out / "overrides.csv").write_text("student,puzzle,points,comment\nben,start,1.5,nearly\n")
        rows = {row["student"]: row for row in made.grade(three, out, regrade=frozenset({"ben"}))}
        assert rows["ben"]["total"] == 9.5
        assert rows["ben"]["puzzles"]["start"]["override"] == "nearly"


class TestLateness:
    """Days, attempts, extra credit."""

    def test_days_begun(self):
        """Each day begun costs its percentage; after the last day nothing counts."""
        due = datetime(2026, 12, 1, tzinfo=UTC)
        rules = Course({}, due, late_percent_a_day=10, late_days=3)
        at = lambda day, hour: datetime(2026, 12, day, hour, tzinfo=UTC)  # noqa: E731
        assert rules.lateness(at(1, 0), late=False) == (1.0, None)
        assert rules.lateness(at(2, 1), late=False)[0] == pytest.approx(0.8)
        assert rules.lateness(at(9, 0), late=False)[0] == 0
        assert rules.lateness(None, late=True)[0] == pytest.approx(0.9)

    def test_extra_credit_is_not_asked_for(self, made, tmp_path):
        """Extra points add to the total, not to what is possible."""
        made.put(tmp_path / "in" / "eve", "start")
        made.put(tmp_path / "in" / "eve", "tiled-matmul")
        full = made.course("start", "tiled-matmul").puzzles
        rules = Course({**full, "start": Worth(2, {"right answer": 1.0}, extra=True)})
        [row] = made.grade(tmp_path / "in", tmp_path / "out", course=rules)
        assert (row["total"], row["possible"]) == (6, 4)

    def test_attempts(self, made, tmp_path):
        """Of two files the later counts; with one attempt allowed, neither."""
        made.put(tmp_path / "in" / "finn" / "attempt-1", "start", WRONG_SQUARE)
        made.put(tmp_path / "in" / "finn" / "attempt-2", "start")
        [row] = made.grade(tmp_path / "in", tmp_path / "out")
        assert (row["attempt"], row["puzzles"]["start"]["points"]) == (2, 2)
        rules = Course(made.course().puzzles, attempts=1)
        [row] = made.grade(tmp_path / "in", tmp_path / "strict", course=rules)
        assert row["total"] == 0

    def test_course_file_round_trip(self, made, tmp_path):
        """What release writes, grade reads as the puzzles' own points."""
        path = tmp_path / "grading.toml"
        path.write_text(courses.text_of(made.course()))
        assert courses.read_course(path).puzzles == made.course().puzzles

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("version = 2", "version is 2"),
            ("version = 1", "names no puzzle"),
            ("version = 1\n[puzzles.strat]\npoints = 1", "did you mean"),
            ("version = 1\n[puzzles.start]\npoints = -1", "from 0 on"),
            ("version = 1\n[puzzles.start.weights]\nsectors = 1", "has no gate 'sectors'"),
            ('version = 1\n[puzzles.start.weights]\n"right answer" = 0', "all weights"),
            ("version = ", "is no TOML"),
            ('version = 1\ndue = "soon"\n[puzzles.start]', "due is 'soon'"),
        ],
    )
    def test_course_file_refused(self, tmp_path, text, words):
        """A mistake is named, with its place."""
        path = tmp_path / "grading.toml"
        path.write_text(text)
        with pytest.raises(Exception, match=words) as caught:
            courses.read_course(path)
        assert type(caught.value).__name__ in {"CannotRun", "UnknownPuzzleError"}


class TestLayouts:
    """What other systems export."""

    def test_each(self, made, tmp_path):
        """Plain files and folders, nbgrader, Moodle and Canvas: one student each."""
        top = tmp_path / "in"
        made.put(top / "ada" / "wia-lab", "start")
        (top / "ada" / "wia-lab" / "timestamp.txt").write_text("2026-12-02 10:00:00.5 UTC\n")
        made.put(top / "Bob Bär_4711_assignsubmission_file_", "start")
        source = made.put(tmp_path / "x", "start")
        for name in ("curiecarl_LATE_99_1_00-start.ipynb", "curiecarl_99_2_00-start-1.ipynb"):
            (top / name).write_bytes(source.read_bytes())
        (top / "dan.ipynb").write_bytes(source.read_bytes())
        (top / "dan (1).ipynb").write_bytes(source.read_bytes())
        found = {each.student: each for each in collect(top)}
        assert sorted(found) == ["Bob Bär_4711", "ada", "curiecarl_99", "dan"]
        assert found["curiecarl_99"].late
        assert found["ada"].when == datetime(2026, 12, 2, 10, 0, 0, 500_000, tzinfo=UTC)
        assert [number for _, number in found["dan"].files] == [1, 0]
        rows = made.grade(top, tmp_path / "out")
        assert [row["total"] for row in rows] == [2, 2, 2, 2]

    def test_empty_folder(self, tmp_path):
        """Nothing to grade is said."""
        with pytest.raises(CannotRun, match="holds no submission"):
            collect(tmp_path)

    def test_roster(self, made, three, tmp_path):
        """Who handed in nothing has a row as well."""
        path = tmp_path / "roster.csv"
        path.write_text('student,name\nanna,x\nzoe,"Zoë, B."\n')
        rows = made.grade(three, tmp_path / "out", roster=grade.read_roster(path))
        assert [(row["student"], row["status"]) for row in rows][-1] == ("zoe", "not_submitted")


def without_ids(text, _):
    """A notebook of an old Jupyter, whose cells have no ids."""
    return re.sub(r'"id": "[^"]*", ', "", text).encode()


def format_3(_, data):
    """A notebook of nbformat 3, with worksheets."""
    cells = [
        {"cell_type": each["cell_type"], "input": "".join(each["source"]), "outputs": []}
        for each in data["cells"]
    ]
    return json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode()


def without_checks(_, data):
    """A notebook whose check cells were deleted."""
    cells = [each for each in data["cells"] if "check" not in each["id"]]
    return json.dumps({**data, "cells": cells}).encode()


def checked_twice(_, data):
    """A notebook whose check cell was copied, id and all, with cells of one's own around it."""
    own = {"cell_type": "code", "source": "1 / 0", "metadata": {}, "outputs": []}
    check = [each for each in data["cells"] if "check" in each["id"]]
    return json.dumps({**data, "cells": [own, *check, *data["cells"], own, *check]}).encode()


ODD = {
    "checked-twice": checked_twice,
    "bom": lambda text, _: text.encode("utf-8-sig"),
    "utf-16": lambda text, _: text.encode("utf-16"),
    "no-ids": without_ids,
    "no-kernelspec": lambda _, data: json.dumps({**data, "metadata": {}}).encode(),
    "nbformat-3": format_3,
    "reversed": lambda _, data: json.dumps({**data, "cells": data["cells"][::-1]}).encode(),
    "no-check": without_checks,
    "kernel": lambda _, data: json.dumps(
        {**data, "metadata": {"kernelspec": {"name": "julia-1.9"}}}
    ).encode(),
}


class TestKindness:
    """Honest students with odd files get all that they earned."""

    def test_full_marks(self, made, tmp_path):
        """Whatever became of the file, the answer is found and judged."""
        for name, change in ODD.items():
            path = made.put(tmp_path / "in" / name, "start")
            text = path.read_text()
            path.write_bytes(change(text, json.loads(text)))
            path.rename(path.with_name("my homework.ipynb"))
        rows = made.grade(tmp_path / "in", tmp_path / "out", course=made.course("start"))
        found = {row["student"]: (row["total"], row["status"]) for row in rows}
        assert found == dict.fromkeys(ODD, (2, "graded"))

    def test_noise_around_an_answer(self, made, tmp_path):
        """Prints, warnings and a broken answer to another puzzle cost nothing."""
        loud = made.solution("buddy-allocator").replace(
            "def alloc(self, size):", 'def alloc(self, size):\n        print("called", size)'
        )
        made.put(tmp_path / "in" / "nell", "buddy-allocator", loud)
        made.put(tmp_path / "in" / "nell", "start", "def square(out, a:\n")
        [row] = made.grade(tmp_path / "in", tmp_path / "out")
        assert row["puzzles"]["buddy-allocator"]["points"] == 4
        assert row["puzzles"]["start"]["status"] == "refused"
        assert row["status"] == "partly_graded"


class TestFiles:
    """What is written."""

    def test_feedback_is_escaped_and_says_why(self, made, three, tmp_path):
        """A page has points, gate, diagnosis and code, and nothing of a student's is live."""
        evil = WRONG_SQUARE + '\nTEXT = "<script>alert(1)</script>"\n'
        made.put(three / "<img src=x>", "start", evil)
        out = tmp_path / "out"
        made.grade(three, out)
        pages = {path: path.read_text() for path in (out / "feedback").glob("*.html")}
        page = next(text for path, text in pages.items() if path.name.startswith("ben"))
        assert "8 of 10 points" in page
        assert "right answer" in page
        assert "doubled" in page
        assert "out[i] = a[i] + a[i]" in page
        for text in [*pages.values(), (out / "classroom.html").read_text()]:
            assert "<script" not in text
            assert "<img" not in text
            assert "out[i] = a[i] * a[i]" not in text or "ben" not in text

    def test_gradebook_can_be_read_back(self, made, three, tmp_path):
        """CSV, JSON and JUnit XML tell the same points."""
        out = tmp_path / "out"
        rows = made.grade(three, out)
        with (out / "gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
            table = {line["student"]: float(line["total"]) for line in csv.DictReader(file)}
        assert table == {row["student"]: row["total"] for row in rows}
        suites = ET.parse(out / "junit.xml").getroot()
        failures = {suite.get("name"): int(suite.get("failures")) for suite in suites}
        assert failures["anna"] == 0
        assert failures["ben"] == 1

    def test_similar_answers_are_listed(self, made):
        """Renamed and laid out anew, an answer is still the same; another one is not."""
        source = made.solution("tiled-matmul")
        renamed = source.replace("total", "akk").replace("column", "spalte") + "\n# mine\n"
        one, two = similar.sketch("a", source), similar.sketch("b", renamed)
        other = similar.sketch("c", made.solution("buddy-allocator"))
        [pair] = similar.near_identical("tiled-matmul", [one, two, other])
        assert (pair.first, pair.second, pair.likeness) == ("a", "b", 1.0)


class TestNbval:
    """nbval confirms each verdict."""

    def test_agrees(self, made, tmp_path):
        """With nbval a verdict stands, and the notebook holds the answer as data alone."""
        made.put(tmp_path / "in" / "hal", "start")
        [row] = made.grade(
            tmp_path / "in", tmp_path / "out", nbval=True, course=made.course("start")
        )
        assert (row["total"], row["nbval"]) == (2, "agrees")
        [path] = (tmp_path / "out" / "notebooks").glob("*.ipynb")
        sources = ["".join(c["source"]) for c in json.loads(path.read_text())["cells"]]
        assert sum(source.startswith("answer = '") for source in sources) == 1

    def test_takes_back_what_it_does_not_confirm(self):
        """An entry that passed in the verdict alone earns nothing."""
        results = {
            "start": {"status": "graded", "notes": [], "entries": [["right answer", True, "right"]]}
        }
        student.hold_against(results, {"ran": True, "confirmed": []})
        assert results["start"]["entries"][0][1] is False
        assert results["start"]["status"] == "grader_error"

    def test_outcomes_are_counted(self):
        """A notebook that did not run to its end confirms nothing."""
        xml = b"<testsuite><testcase/><testcase><failure/></testcase></testsuite>"
        assert official.outcomes_of(xml) == [True, False]
        results = {"start": {"entries": [["right answer", True, ""]]}}
        assert official.check_outcomes([True, True, False], results) == [False]


class TestAll:
    """Every puzzle there is."""

    @pytest.mark.slow
    def test_twenty_seeds(self, made, tmp_path):
        """On twenty other seeds each solution is full."""
        from wia_lab.grading.course import default_course

        full = default_course()
        full = Course(
            {
                n: w
                for n, w in full.puzzles.items()
                if (made.root / "solutions" / f"{find(n).stem}.ipynb").exists()
            }
        )
        for name in full.puzzles:
            made.put(tmp_path / "in" / "all", name)
        for seed in range(20):
            [row] = made.grade(
                tmp_path / "in", tmp_path / f"out{seed}", seed=str(seed), course=full
            )
            assert row["total"] == row["possible"], [
                (n, c["failing"]) for n, c in row["puzzles"].items() if c["points"] < c["of"]
            ]


class TestPrivileges:
    """Limits that only the system can hold."""

    def test_root_becomes_somebody_else(self, made, tmp_path):
        """A grader run as root runs no answer as root."""
        if os.getuid() != 0:
            pytest.skip("not root: answers run as this user, in a namespace of their own")
        assert worker.all_may_read(Path("/usr/bin/env"))
        assert not worker.all_may_read(Path("/root/x"))

    def test_a_worker_that_stays_root_is_said(self, made, tmp_path, monkeypatch):
        """In the row, now and when the verdict is used again."""
        made.put(tmp_path / "in" / "rob", "start")
        monkeypatch.setattr(
            student.Worker, "start", lambda self, start=student.Worker.start: root(self, start)
        )

        def root(worker, start):
            start(worker)
            worker.as_root = True

        for _ in range(2):
            [row] = made.grade(tmp_path / "in", tmp_path / "out", course=made.course("start"))
            assert row["sandbox"].endswith(", as root")
            assert row["total"] == 2

    def test_the_stronger_sandbox_can_be_demanded(self, made, tmp_path, monkeypatch, capsys):
        """Where bubblewrap does not work the weak one is taken and said, or refused as asked."""
        made.put(tmp_path / "in" / "sue", "start")
        monkeypatch.setattr(sandbox.shutil, "which", lambda _: None)
        sandbox.mode.cache_clear()
        try:
            words = ["grade", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--no-nbval"]
            words += ["--puzzle", "start", "--jobs", "1"]
            assert main([*words, "--sandbox", "bubblewrap"]) != 0
            assert "bubblewrap does not work here" in capsys.readouterr().err
            assert not (tmp_path / "out").exists()
            assert main(words) == 0
            assert "without bubblewrap" in capsys.readouterr().err
        finally:
            sandbox.mode.cache_clear()
        with (tmp_path / "out" / "gradebook.csv").open(encoding="utf-8-sig") as file:
            [row] = csv.DictReader(file)
        assert row["sandbox"].removesuffix(grade.AS_ROOT) == sandbox.WEAK
        is_root = os.getuid() == 0 and not worker.all_may_read(Path(os.__file__))
        assert row["sandbox"].endswith(grade.AS_ROOT) == is_root
