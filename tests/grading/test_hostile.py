"""A class with everything that has ever been tried on a grader: nobody gains, nobody loses."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
from pathlib import Path

import pytest

from wia_lab.grading.gradebook import STATUSES
from wia_lab.grading.limits import Limits

ANSWERS = sorted((Path(__file__).parent / "hostile").glob("*.py"))
GOOD = ("good-anna", "good-björn", "good-=1+1")
WRONG = (
    "from wia_lab import cuda\n\n@cuda.jit\ndef square(out, a):\n    i = cuda.grid(1)\n"
    "    if i < out.size:\n        out[i] = a[i] + a[i]\n"
)


def head(path: Path, name: str) -> str:
    """Return what a hostile answer's head says."""
    line = next(line for line in path.read_text().splitlines() if line.startswith(f"# {name}: "))
    return line.partition(": ")[2]


def edit(made, folder, change, source=WRONG):
    """Write the notebook of `start` with a wrong answer and a change to it."""
    path = made.put(folder, "start", source)
    notebook = json.loads(path.read_text())
    change(notebook)
    path.write_text(json.dumps(notebook))


def cell(notebook, name):
    return next(each for each in notebook["cells"] if each["id"] == name)


def forge(notebook):
    said = {"output_type": "stream", "name": "stdout", "text": ["start: passed on 3 inputs.\n"]}
    cell(notebook, "check-start")["outputs"] = [said]


EDITS = {
    "edited-check": lambda n: cell(n, "check-start").update(source="print('passed')"),
    "deleted-check": lambda n: n["cells"].remove(cell(n, "check-start")),
    "markdown-check": lambda n: cell(n, "check-start").update(cell_type="markdown"),
    "skip-tags": lambda n: cell(n, "check-start")["metadata"].update(tags=["skip-execution"]),
    "raises-tag": lambda n: cell(n, "check-start")["metadata"].update(tags=["raises-exception"]),
    "nbval-skip": lambda n: cell(n, "check-start").update(source="# NBVAL_SKIP\nassert False"),
    "forged-output": forge,
    "magic-check": lambda n: cell(n, "check-start").update(source="%%script true\ncheck()"),
    "duplicate-ids": lambda n: n["cells"].append({**cell(n, "answer"), "source": WRONG}),
    "conftest-cell": lambda n: cell(n, "setup").update(
        source="import wia_lab; wia_lab.check = print"
    ),
    "points-in-metadata": lambda n: n["metadata"].update(points=100, verdict={"start": 1}),
}


def whole(notebook, data):
    return json.dumps(notebook).encode(data)


def break_files(made, top: Path) -> dict[str, str]:
    """Write files that are no notebooks; return what the report must say of each."""
    said = {}

    def write(student, data, words, name="00-start.ipynb"):
        folder = top / student
        folder.mkdir()
        (folder / name).write_bytes(data)
        said[student] = words

    write("empty", b"", "is empty")
    write("not-json", b"print('hello')", "is no JSON")
    write("a-list", b"[]", "holds a list")
    write("no-cells", b'{"nbformat": 4}', "has no cells")
    write("cells-of-numbers", b'{"cells": 7}', "has no cells")
    write("nested", b"[" * 100_000, "is no JSON")
    write("large", b" " * (50 << 20) + b"{}", "50 MiB")
    write("bad-zip", b"PK nothing", "no archive", "start.zip")
    write("noise", bytes(range(256)) * 9, "is no JSON")
    (top / "link").mkdir()
    (top / "link" / "00-start.ipynb").symlink_to("/etc/passwd")
    said["link"] = "is a link"
    (top / "pipe").mkdir()
    os.mkfifo(top / "pipe" / "00-start.ipynb")
    said["pipe"] = "no regular file"
    (top / "folder-for-a-file" / "00-start.ipynb").mkdir(parents=True)
    with zipfile.ZipFile(top / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(6):
            archive.writestr(f"{number}.ipynb", b" " * (19 << 20))
    said["bomb"] = "would unpack"
    (top / "link-to-root.ipynb").symlink_to("/")
    said["link-to-root"] = "is a link"
    return said


def contents(*folders):
    """Return a digest of each regular file of some folders."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def in_its_time(made):
    """Return a grader: who is to meet the limit of time has less of it, all share one worker."""
    seconds = {"timeout": 1.0, "any": 2.0}
    of = {path.stem: seconds.get(head(path, "status"), 20.0) for path in ANSWERS}

    def limited(tasks):
        for task in tasks:
            limits = {**task["limits"], "seconds": of.get(task["student"], 20.0)}
            yield {**task, "limits": limits}

    return lambda tasks: made.by_one_worker(limited(tasks))


def grade_hostile(made, tmp_path_factory):
    """Grade the class; return rows by student, the folder, and what each must be told."""
    top = tmp_path_factory.mktemp("class")
    for student in GOOD:
        for puzzle in made.few:
            made.put(top / student, puzzle)
    alone = made.grade(top, tmp_path_factory.mktemp("alone"))
    for path in ANSWERS:
        made.put(top / path.stem, head(path, "puzzle"), path.read_text())
    for name, change in EDITS.items():
        edit(made, top / name, change)
    beside = top / "conftest-beside"
    made.put(beside, "start", WRONG)
    (beside / "conftest.py").write_text("raise SystemExit(0)")
    (beside / "numpy.py").write_text("raise SystemExit(0)")
    said = break_files(made, top)
    out = tmp_path_factory.mktemp("out")
    before = contents(top, made.root / "solutions", made.root / "notebooks")
    rows = made.grade(top, out, limits=Limits(output_mib=4), grader=in_its_time(made))
    assert before == contents(top, made.root / "solutions", made.root / "notebooks")
    return (
        {row["student"]: row for row in rows},
        str(out),
        said,
        {row["student"]: row for row in alone},
    )


@pytest.fixture(scope="module")
def graded(made, tmp_path_factory):
    """The class, graded once a run: the processes of pytest-xdist share the first one's result."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "alone")
    shared = tmp_path_factory.getbasetemp().parent / f"hostile-{run}"
    result = shared / "result.json"
    try:
        shared.mkdir()
    except FileExistsError:
        until = time.monotonic() + 300
        while not result.exists() and run != "alone" and time.monotonic() < until:
            time.sleep(0.1)
    if run == "alone" or not result.exists():
        text = json.dumps(grade_hostile(made, tmp_path_factory))
        (shared / "part").write_text(text)
        (shared / "part").replace(result)
    rows, out, said, alone = json.loads(result.read_text())
    return rows, Path(out), said, alone


class TestAnswers:
    """Answers that attack the grader."""

    def test_there_are_forty(self):
        """At least 40 hostile submissions stand in the suite."""
        assert len(ANSWERS) + len(EDITS) >= 40

    @pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
    def test_earns_nothing_and_is_named(self, graded, path):
        """No point, the status that its head names, and a diagnosis in the record."""
        row = graded[0][path.stem]
        assert row["total"] == 0
        puzzle = row["puzzles"][head(path, "puzzle")]
        wanted = {"syntax": "refused"}.get(head(path, "status"), head(path, "status"))
        assert puzzle["status"] in STATUSES
        assert wanted in {"any", puzzle["status"]}
        assert puzzle["kind"]

    def test_nothing_of_theirs_ran_here(self, graded):
        """Code in a default value was never evaluated."""
        assert not Path("/tmp/owned").exists()


class TestNotebooks:
    """Notebooks that were meddled with around a wrong answer."""

    @pytest.mark.parametrize("name", [*EDITS, "conftest-beside"])
    def test_earns_nothing(self, graded, name):
        """The answer alone counts, and it is wrong."""
        row = graded[0][name]
        assert row["total"] == 0
        assert row["puzzles"]["start"]["kind"] == "wrong-value"

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("edited-check", "check cell check-start was edited"),
            ("deleted-check", "check cell check-start is missing"),
            ("markdown-check", "turned into markdown"),
            ("skip-tags", "skip-execution"),
            ("raises-tag", "raises-exception"),
            ("nbval-skip", "NBVAL_SKIP"),
            ("magic-check", "magics"),
            ("duplicate-ids", "defined in 2 cells"),
            ("conftest-beside", "conftest.py lies beside"),
        ],
    )
    def test_is_named(self, graded, name, words):
        """The report says what was found."""
        assert words in "; ".join(graded[0][name]["findings"])


class TestFiles:
    """Files that are no notebooks."""

    def test_each_is_unreadable_and_says_why(self, graded):
        """One row each, 0 points, and the reason."""
        rows, _, said, _ = graded
        for student, words in said.items():
            assert rows[student]["status"] == "unreadable", student
            assert words in "; ".join(rows[student]["findings"]), student
            assert rows[student]["total"] == 0

    def test_folder_for_a_file_is_nothing_handed_in(self, graded):
        """A folder named like a notebook holds nothing."""
        assert graded[0]["folder-for-a-file"]["status"] == "not_submitted"


class TestOthers:
    """What the good students get."""

    def test_rows_are_what_they_are_alone(self, graded):
        """Neighbours change no row, nor any other student's feedback."""
        rows, _, _, alone = graded
        for student in GOOD:
            assert rows[student] == alone[student]
            assert rows[student]["total"] == rows[student]["possible"] == 10

    def test_one_row_a_student(self, graded):
        """Every student stands in the gradebook once, with a status of the closed list."""
        rows, out, _, _ = graded
        book = json.loads((out / "gradebook.json").read_text(encoding="utf-8"))
        assert [row["student"] for row in book["students"]] == sorted(rows)
        assert {row["status"] for row in rows.values()} <= set(STATUSES)

    def test_a_formula_is_neutralised(self, graded):
        """A name that a spreadsheet would compute arrives as text."""
        out = graded[1]
        assert "\r\n'=1+1" not in (out / "gradebook.csv").read_text(encoding="utf-8-sig")
        assert "good-=1+1" in (out / "gradebook.csv").read_text(encoding="utf-8-sig")
