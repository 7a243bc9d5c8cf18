"""`check` and `hint` in a notebook: judged by the puzzles, remembered in the learner's folder."""

from __future__ import annotations

import pytest

from wia_lab import puzzles
from wia_lab.errors import CheckFailed
from wia_lab.workbook import learner, progress
from wia_lab.workbook.catalogue import find


@pytest.fixture
def learner_folder(in_folder):
    """Make the current folder a learner's."""
    progress.save(in_folder, progress.Progress())
    return in_folder


@pytest.fixture
def judge(monkeypatch):
    """Replace the judge of puzzles: only "right" is right."""

    def check(_puzzle, answer):
        if answer != "right":
            raise CheckFailed("not right yet")

    monkeypatch.setattr(puzzles, "check", check)


@pytest.mark.usefixtures("judge")
class TestCheck:
    """A success is remembered, and only a success."""

    def test_success_is_remembered(self, learner_folder):
        """The puzzle's own id is noted, whichever name was given."""
        learner.check("06-tiled-matmul", "right")
        assert list(progress.load(learner_folder).solved) == ["tiled-matmul"]

    def test_failure_is_not(self, learner_folder):
        """The diagnosis is raised, and nothing is noted."""
        with pytest.raises(CheckFailed, match="not right yet"):
            learner.check("tiled-matmul", "wrong")
        assert progress.load(learner_folder).solved == {}

    def test_other_folders_stay_clean(self, in_folder):
        """Outside a learner's folder nothing is written."""
        learner.check("tiled-matmul", "right")
        assert list(in_folder.iterdir()) == []


class TestHint:
    """Each hint gives more; what was seen is remembered."""

    def test_one_after_the_other(self, learner_folder, capsys):
        """Three calls give three hints, the fourth the last again."""
        hints = find("tiled-matmul").hints
        for number in (1, 2, 3, 3):
            learner.hint("tiled-matmul")
            shown = capsys.readouterr().out
            assert shown.startswith(f"Hint {number} of 3")
            assert hints[number - 1].strip() in shown
        assert progress.load(learner_folder).hints == {"tiled-matmul": 3}

    def test_a_hint_by_number(self, learner_folder, capsys):
        """Hint 2 asked for by number counts as seen, and going back forgets nothing."""
        learner.hint("tiled-matmul", 2)
        learner.hint("tiled-matmul", 1)
        assert capsys.readouterr().out.startswith("Hint 2 of 3")
        assert progress.load(learner_folder).hints == {"tiled-matmul": 2}

    def test_outside_a_learners_folder(self, in_folder, capsys):
        """The process counts, and nothing is written."""
        learner.hint("tiled-matmul", 1)
        assert capsys.readouterr().out.startswith("Hint 1 of 3")
        learner.hint("tiled-matmul")
        assert capsys.readouterr().out.startswith("Hint 2 of 3")
        assert list(in_folder.iterdir()) == []
