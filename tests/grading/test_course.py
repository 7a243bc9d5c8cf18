"""Days, attempts, extra credit, and the file that says what they cost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from wia_lab.grading import course as courses
from wia_lab.grading.course import Course, Worth


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
        made.put(tmp_path / "in" / "finn" / "attempt-1", "start", made.wrong_square)
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
