"""`.wia-lab.json`: read whole, written whole, never lost."""

from __future__ import annotations

import errno
import json
import os
import stat

import pytest

from wia_lab.workbook import files, progress
from wia_lab.workbook.progress import Progress


class TestState:
    """What was saved is loaded again."""

    def test_round_trip(self, tmp_path):
        """Solved puzzles and hints come back as they were."""
        state = Progress(solved={"tiled-matmul": "2026-11-29T20:00:00+00:00"}, hints={"start": 2})
        progress.save(tmp_path, state)
        assert progress.load(tmp_path) == state

    def test_no_file_is_a_fresh_start(self, tmp_path):
        """A folder without a state file has nothing solved, and nothing is written by looking."""
        assert progress.load(tmp_path) == Progress({}, {})
        assert list(tmp_path.iterdir()) == []

    def test_first_time_counts(self, tmp_path):
        """Solving a puzzle again keeps the time of the first success."""
        state = Progress(solved={"start": "then"})
        state.solve("start")
        state.solve("tiled-matmul")
        assert state.solved["start"] == "then"
        assert state.solved["tiled-matmul"].startswith("20")

    def test_forget(self):
        """A puzzle begun anew is neither solved nor hinted at; the others stay."""
        state = Progress(solved={"a": "then", "b": "then"}, hints={"a": 1, "b": 2})
        state.forget("a")
        state.forget("never seen")
        assert state == Progress(solved={"b": "then"}, hints={"b": 2})


BROKEN = {
    "not JSON": (b'{"version": 1,', "line 1"),
    "empty": (b"", "Expecting value"),
    "not text": (b"\xff\xfe\x00", "utf-8"),
    "a list": (b"[]", "a list where an object should stand"),
    "another version": (b'{"version": 9}', "version 9 instead of 1"),
    "no members": (b'{"version": 1}', "'solved' must map puzzles to str values"),
    "wrong values": (
        b'{"version": 1, "solved": {}, "hints": {"a": true}}',
        "'hints' must map puzzles to int values",
    ),
}


class TestBrokenFile:
    """A file that cannot be understood is named, kept, and replaced by a fresh state."""

    @pytest.mark.parametrize("content", BROKEN)
    def test_is_kept_as_a_backup(self, content, tmp_path, capsys):
        """The bytes stay under another name, and stderr says which and why."""
        data, reason = BROKEN[content]
        (tmp_path / ".wia-lab.json").write_bytes(data)
        assert progress.load(tmp_path) == Progress({}, {})
        assert (tmp_path / "wia-lab.backup-1.json").read_bytes() == data
        said = capsys.readouterr().err
        assert reason in said
        assert said.endswith("it is kept as wia-lab.backup-1.json, and progress is counted anew\n")

    def test_a_folder_in_its_place(self, tmp_path, capsys):
        """A folder of that name is kept, too."""
        (tmp_path / progress.STATE_FILE).mkdir()
        assert progress.load(tmp_path) == Progress({}, {})
        assert (tmp_path / "wia-lab.backup-1.json").is_dir()
        assert "could not be read (Is a directory)" in capsys.readouterr().err

    def test_backups_do_not_replace_each_other(self, tmp_path):
        """The second broken file gets the next number."""
        for content in ("one", "two"):
            (tmp_path / ".wia-lab.json").write_text(content)
            progress.load(tmp_path)
        assert (tmp_path / "wia-lab.backup-1.json").read_text() == "one"
        assert (tmp_path / "wia-lab.backup-2.json").read_text() == "two"


class TestAtomicWrite:
    """A reader sees the old file or the new one."""

    def test_failure_leaves_the_old_file(self, tmp_path, monkeypatch):
        """When the disk fails before the end, the old text stands and no part is left behind."""
        progress.save(tmp_path, Progress(hints={"start": 1}))

        def fail(_handle):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space left"):
            progress.save(tmp_path, Progress(hints={"start": 3}))
        assert [path.name for path in tmp_path.iterdir()] == [".wia-lab.json"]
        assert json.loads((tmp_path / ".wia-lab.json").read_text())["hints"] == {"start": 1}

    def test_failure_names_the_file(self, tmp_path):
        """Not the one that would have been written beside it."""
        with pytest.raises(FileNotFoundError) as caught:
            files.write_atomically(tmp_path / "nowhere" / "x", "text")
        assert caught.value.filename == str(tmp_path / "nowhere" / "x")

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
    def test_modes(self, tmp_path):
        """A new file follows the umask, and a replaced one keeps its mode."""
        old = os.umask(0o022)
        try:
            files.write_atomically(tmp_path / "new", "text")
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o644
        (tmp_path / "new").chmod(0o640)
        files.write_atomically(tmp_path / "new", "other text")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_broken_state_that_cannot_be_renamed(tmp_path, monkeypatch, capsys):
    """In a read-only folder the file stays, and progress can still be asked for."""
    (tmp_path / progress.STATE_FILE).write_text("{")

    def refuse(*_args):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(progress.Path, "replace", refuse)
    assert progress.load(tmp_path) == Progress()
    assert "it stays as it is, as it cannot be renamed (Read-only file system)" in (
        capsys.readouterr().err
    )
    assert (tmp_path / progress.STATE_FILE).read_text() == "{"
