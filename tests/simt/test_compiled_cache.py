"""Compiled helpers load at first use, from a cache that may be read-only, damaged or absent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wia_lab.simt import compiled
from wia_lab.simt.compiled_traffic import SIGNATURES, active_warps

ACTIVE = np.arange(64) < 40


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder of this test's own."""
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path)
    return tmp_path


def load():
    return compiled._load(active_warps, SIGNATURES["active_warps"])


def hits(helper) -> int:
    return sum(helper.stats.cache_hits.values())


class TestCache:
    """One file an overload."""

    def test_stores_then_loads(self, folder) -> None:
        """The first load compiles and stores one file; the next reads it."""
        assert hits(load()) == 0
        (file,) = folder.iterdir()
        assert file.stat().st_mode & 0o444 == 0o444  # readable by whoever shares the environment
        helper = load()
        assert hits(helper) == 1
        assert helper(ACTIVE) == (2, 40)

    def test_damaged_file_is_compiled_anew(self, folder) -> None:
        """A file cut short or altered is replaced, never run."""
        load()
        (file,) = folder.iterdir()
        whole = file.read_bytes()
        for damaged in (whole[:100], b"", whole[:-1] + bytes([whole[-1] ^ 1])):
            file.write_bytes(damaged)
            helper = load()
            assert hits(helper) == 0
            assert helper(ACTIVE) == (2, 40)
        assert hits(load()) == 1

    def test_nowhere_to_write(self, folder, monkeypatch) -> None:
        """Where no file can be made, the helper lives in memory."""

        def refuse(*_: object, **__: object):
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr(compiled.tempfile, "NamedTemporaryFile", refuse)
        assert load()(ACTIVE) == (2, 40)
        assert list(folder.iterdir()) == []

    def test_reads_a_folder_that_cannot_be_written(self, folder, monkeypatch) -> None:
        """A filled folder serves even though nothing can be written to it."""
        load()
        monkeypatch.setattr(compiled.tempfile, "NamedTemporaryFile", None)
        assert hits(load()) == 1

    def test_key_holds_the_source(self, folder, monkeypatch) -> None:
        """Another version of the sources reads none of this one's files."""
        load()
        monkeypatch.setattr(compiled, "source_stamp", lambda: "another")
        assert hits(load()) == 0
        assert len(list(folder.iterdir())) == 2


class TestFolder:
    """Which folder is used."""

    def test_environment_first(self) -> None:
        """The environment's folder, where it can be written or is filled."""
        assert compiled.cache_folder() == Path(sys.prefix) / "share" / "wia_lab" / "compiled"

    def test_user_where_the_environment_is_read_only(self, tmp_path, monkeypatch) -> None:
        """The user's cache folder, where only that can be written."""
        monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
        user = tmp_path / "user" / "wia_lab" / "compiled"
        monkeypatch.setattr(compiled, "_writable", lambda folder: folder == user)
        assert compiled.cache_folder.__wrapped__() == user


class TestImport:
    """In another process."""

    def run(self, program: str, **environment: str) -> str:
        variables = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**variables, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def test_import_compiles_nothing(self) -> None:
        """Importing loads no helper; the first use does, and leaves it in the module."""
        program = (
            "import numpy as np\n"
            "from wia_lab.simt import compiled\n"
            "before = [name for name in compiled.HELPERS if name in vars(compiled)]\n"
            "compiled.active_warps(np.ones(32, bool))\n"
            "print(before, [name for name in compiled.HELPERS if name in vars(compiled)])\n"
        )
        assert self.run(program) == "[] ['active_warps']"

    def test_no_home_and_nothing_writable(self) -> None:
        """With no home, no cache and no folder to write to, helpers still compile."""
        program = (
            "import sys, tempfile, numpy as np\n"
            "from wia_lab.simt import compiled\n"
            "def refuse(*_, **__): raise OSError(30, 'Read-only file system')\n"
            "tempfile.TemporaryFile = tempfile.NamedTemporaryFile = refuse\n"
            "sys.prefix = '/nonexistent'\n"
            "compiled.Path.mkdir = refuse\n"
            "print(compiled.active_warps(np.ones(64, bool)), compiled.cache_folder().exists())\n"
        )
        assert self.run(program) == "(2, 64) False"

    def test_plain_python_where_numba_is_switched_off(self) -> None:
        """With NUMBA_DISABLE_JIT the sources run as they stand."""
        program = (
            "import numpy as np\n"
            "from wia_lab.simt import compiled\n"
            "print(compiled.active_warps(np.arange(64) < 40))\n"
        )
        printed = self.run(program, NUMBA_DISABLE_JIT="1")
        assert printed in ("(2, 40)", "(np.int64(2), np.int64(40))")
