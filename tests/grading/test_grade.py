"""What earns points, and who confirms them."""

from __future__ import annotations

import json

import pytest

from wia_lab.grading import official, student
from wia_lab.grading.course import Course, Worth, default_course
from wia_lab.puzzles.curriculum import find


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
