"""Limits that only the system can hold, and what is said where it does not."""

from __future__ import annotations

import csv
import os
from functools import partial
from pathlib import Path

import pytest

from wia_lab.cli import main
from wia_lab.grading import grade, sandbox, student, worker


class TestPrivileges:
    """Limits that only the system can hold."""

    def test_root_becomes_somebody_else(self, made, tmp_path):
        """A grader run as root runs no answer as root."""
        if os.getuid() != 0:
            pytest.skip("not root: answers run as this user, in a namespace of their own")
        assert worker.all_may_read(Path("/usr/bin/env"))
        assert not worker.all_may_read(Path("/root/x"))

    def test_a_worker_that_stays_root_is_said(self, made, tmp_path, monkeypatch):
        """In the row, now and when the verdict is used again."""
        made.put(tmp_path / "in" / "rob", "start")
        monkeypatch.setattr(
            student.Worker, "start", lambda self, start=student.Worker.start: root(self, start)
        )

        def root(worker, start):
            start(worker)
            worker.as_root = True

        course, own = made.course("start"), partial(map, student.grade_student)
        for _ in range(2):
            [row] = made.grade(tmp_path / "in", tmp_path / "out", course=course, grader=own)
            assert row["sandbox"].endswith(", as root")
            assert row["total"] == 2

    def test_the_stronger_sandbox_can_be_demanded(self, made, tmp_path, monkeypatch, capsys):
        """Where bubblewrap does not work the weak one is taken and said, or refused as asked."""
        made.put(tmp_path / "in" / "sue", "start")
        monkeypatch.setattr(sandbox.shutil, "which", lambda _: None)
        sandbox.mode.cache_clear()
        try:
            words = ["grade", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--no-nbval"]
            words += ["--puzzle", "start", "--jobs", "1"]
            assert main([*words, "--sandbox", "bubblewrap"]) != 0
            assert "bubblewrap does not work here" in capsys.readouterr().err
            assert not (tmp_path / "out").exists()
            assert main(words) == 0
            assert "without bubblewrap" in capsys.readouterr().err
        finally:
            sandbox.mode.cache_clear()
        with (tmp_path / "out" / "gradebook.csv").open(encoding="utf-8-sig") as file:
            [row] = csv.DictReader(file)
        assert row["sandbox"].removesuffix(grade.AS_ROOT) == sandbox.WEAK
        is_root = os.getuid() == 0 and not worker.all_may_read(Path(os.__file__))
        assert row["sandbox"].endswith(grade.AS_ROOT) == is_root
