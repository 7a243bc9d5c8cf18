"""`check` and `hint` in a notebook: judged by the puzzles, remembered in the learner's folder."""

from __future__ import annotations

import errno
import os

import pytest

from wia_lab import puzzles
from wia_lab.errors import CheckFailed
from wia_lab.workbook import files, learner, progress
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


@pytest.fixture
def read_only(learner_folder, monkeypatch):
    """Refuse every write, as a read-only file system does, even to root."""

    def refuse(*_args, **_kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(files.tempfile, "mkstemp", refuse)
    return learner_folder


@pytest.mark.usefixtures("judge")
class TestReadOnly:
    """What cannot be remembered is judged and shown all the same, and stderr says so."""

    def test_a_right_answer_passes(self, read_only, capsys):
        """In a grader's sandbox a right answer is right."""
        learner.check("tiled-matmul", "right")
        said = capsys.readouterr().err
        assert f"{read_only / '.wia-lab.json'} cannot be written (Read-only file system)" in said
        assert progress.load(read_only).solved == {}

    def test_a_hint_is_given(self, read_only, capsys):
        """A hint asked for is shown."""
        learner.hint("tiled-matmul")
        said = capsys.readouterr()
        assert said.out.startswith("Hint 1 of 3")
        assert "so this is not remembered" in said.err


class TestHint:
    """Each hint gives more; what was seen is remembered."""

    def test_one_after_the_other(self, learner_folder, capsys):
        """Three calls give three hints, the fourth the last again."""
        hints = find("tiled-matmul").hints
        again = "There is no further hint: the last once more.\n"
        for number, before in ((1, ""), (2, ""), (3, ""), (3, again)):
            learner.hint("tiled-matmul")
            shown = capsys.readouterr().out
            assert shown.startswith(f"{before}Hint {number} of 3")
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
