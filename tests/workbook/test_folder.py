"""The learner's folder: where it is found, and how one notebook is begun anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from wia_lab.errors import CannotRun
from wia_lab.workbook import places, progress
from wia_lab.workbook.folder import begin_state, find_folder, open_folder, reset_notebook


class TestFind:
    """Commands find the learner's folder without being told."""

    def test_here_or_below(self, tmp_path, small_workbook):
        """In the folder itself, and in the folder that holds my-notebooks."""
        open_folder(tmp_path / "my-notebooks")
        assert find_folder(None, tmp_path) == tmp_path / "my-notebooks"
        assert find_folder(None, tmp_path / "my-notebooks") == tmp_path / "my-notebooks"

    def test_a_folder_without_state_still_counts(self, tmp_path, small_workbook):
        """One notebook copied by hand makes a folder, too, but one with a state comes first."""
        here, below = tmp_path / "here", tmp_path / "here" / "my-notebooks"
        open_folder(here)
        for name in (progress.STATE_FILE, "00-start.ipynb"):
            (here / name).unlink()
        assert find_folder(here) == here
        assert find_folder(None, here) == here
        open_folder(below)
        assert find_folder(None, here) == below

    @pytest.mark.parametrize(
        ("named", "said"),
        [
            ("empty", "no workbook in empty, neither .wia-lab.json nor a puzzle's notebook: run "),
            ("nowhere", "there is no folder nowhere: name the learner's folder with --dir"),
            ("a.txt", "a.txt is a file, and --dir names a folder: try --dir ."),
            ("mine/00-start.ipynb", "is a notebook, and --dir names a folder: try --dir mine"),
            ("mine/demos", "run wia-lab start first, or did you mean --dir mine?"),
            (".", "run wia-lab start first, or did you mean --dir mine?"),
        ],
    )
    def test_none(self, named, said, in_folder, small_workbook):
        """Elsewhere the sentence names where was looked, for what, and what is near."""
        open_folder(in_folder / "mine")
        (in_folder / "empty").mkdir()
        (in_folder / "a.txt").touch()
        with pytest.raises(CannotRun) as caught:
            find_folder(Path(named))
        assert said in str(caught.value)


class TestState:
    """A folder of copied notebooks begins to remember."""

    def test_begun_once_and_told(self, tmp_path, small_workbook, capsys):
        """The missing file is named; the second call has nothing to say."""
        open_folder(tmp_path)
        (tmp_path / progress.STATE_FILE).unlink()
        begin_state(tmp_path)
        begin_state(tmp_path)
        assert progress.load(tmp_path) == progress.Progress()
        said = capsys.readouterr().err
        assert said.startswith(f"wia-lab: {tmp_path} has no .wia-lab.json, so what was solved")
        assert said.count("\n") == 1

    def test_not_in_the_packages_own(self, small_workbook):
        """What the package ships stays as it is."""
        own = small_workbook / "notebooks"
        begin_state(own)
        assert not (own / progress.STATE_FILE).exists()


class TestReset:
    """A fresh notebook; the old one is kept."""

    def test_every_old_notebook_is_kept(self, tmp_path, small_workbook):
        """Two resets leave two backups, in order, and the notebook as delivered."""
        open_folder(tmp_path)
        notebook = tmp_path / "06-tiled-matmul.ipynb"
        fresh = notebook.read_text()
        for text in ("first try", "second try"):
            notebook.write_text(text)
            reset_notebook(tmp_path, notebook.name)
        assert (tmp_path / "06-tiled-matmul.backup-1.ipynb").read_text() == "first try"
        assert (tmp_path / "06-tiled-matmul.backup-2.ipynb").read_text() == "second try"
        assert notebook.read_text() == fresh

    def test_missing_notebook_is_brought_back(self, tmp_path, small_workbook):
        """A notebook that was deleted comes back, and there is nothing to keep."""
        open_folder(tmp_path)
        (tmp_path / "06-tiled-matmul.ipynb").unlink()
        assert reset_notebook(tmp_path, "06-tiled-matmul.ipynb") is None
        assert (tmp_path / "06-tiled-matmul.ipynb").exists()


class TestPlaces:
    """Where the package's own notebooks stand."""

    def test_broken_installation(self, tmp_path, monkeypatch):
        """A package without its notebooks says so instead of copying nothing."""
        monkeypatch.setattr(places, "checkout", lambda: None)
        monkeypatch.setattr(places, "PACKAGE", tmp_path)
        with pytest.raises(CannotRun, match="and with it every notebook: install wia-lab again"):
            places.notebooks_folder()

    def test_a_wheel_has_no_sources(self, tmp_path, monkeypatch):
        """Building needs a clone, and the sentence says so."""
        monkeypatch.setattr(places, "checkout", lambda: None)
        with pytest.raises(CannotRun, match="run this from a clone of the project"):
            places.solutions_folder()

    def test_checkpoints_are_no_notebooks(self, tmp_path):
        """Jupyter's own copies are passed over."""
        for name in (
            "b.ipynb",
            "a.ipynb",
            ".ipynb_checkpoints/a-checkpoint.ipynb",
            "demos/c.ipynb",
        ):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("")
        found = [path.relative_to(tmp_path).as_posix() for path in places.notebook_paths(tmp_path)]
        assert found == ["a.ipynb", "b.ipynb", "demos/c.ipynb"]
