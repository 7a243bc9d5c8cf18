"""Files as other systems export them, and files of honest students that look odd."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from wia_lab.errors import CannotRun
from wia_lab.grading import grade
from wia_lab.grading.layouts import collect


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
