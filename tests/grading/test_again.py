"""A class graded again: what is reused, what is kept, and that nothing else differs."""

from __future__ import annotations

import re

import pytest

from wia_lab.grading import grade


class TestAgain:
    """A second run."""

    def test_same_seed_same_files(self, made, three, tmp_path):
        """One job and two write the same files, byte for byte."""
        made.grade(three, tmp_path / "one")
        made.grade(three, tmp_path / "two", jobs=2)
        assert made.contents(tmp_path / "one") == made.contents(tmp_path / "two")

    def test_only_what_changed_is_judged(self, made, three, tmp_path, monkeypatch):
        """A new answer of one student is judged alone; the rest is as it was."""
        out = tmp_path / "out"
        made.grade(three, out)
        made.put(three / "ben", "start")
        judged = []

        def spy(tasks):
            for result in made.by_one_worker(tasks):
                judged.append((result["student"], sorted(result["puzzles"])))
                yield result

        rows = {row["student"]: row for row in made.grade(three, out, grader=spy)}
        assert judged == [("ben", ["start"])]
        assert rows["ben"]["total"] == 10

    def test_goes_on_after_a_stop(self, made, three, tmp_path):
        """What was judged before a stop is kept; the end is as without the stop."""
        made.grade(three, tmp_path / "whole")

        def stopped(tasks):
            yield next(made.by_one_worker(tasks))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            made.grade(three, tmp_path / "out", grader=stopped)
        judged = []

        def rest(tasks):
            for result in made.by_one_worker(tasks):
                judged.append(result["student"])
                yield result

        made.grade(three, tmp_path / "out", grader=rest)
        assert judged == ["ben", "cleo"]
        assert made.contents(tmp_path / "out") == made.contents(tmp_path / "whole")

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
