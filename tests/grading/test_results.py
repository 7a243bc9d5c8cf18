"""What a grading writes: gradebook, feedback, the view of the class."""

from __future__ import annotations

import csv
from xml.etree import ElementTree as ET

from wia_lab.grading import similar


class TestFiles:
    """What is written."""

    def test_feedback_is_escaped_and_says_why(self, made, three, tmp_path):
        """A page has points, gate, diagnosis and code, and nothing of a student's is live."""
        evil = made.wrong_square + '\nTEXT = "<script>alert(1)</script>"\n'
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
