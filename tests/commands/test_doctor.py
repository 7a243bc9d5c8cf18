"""`wia-lab doctor`: the back end and why, the versions, what is compiled."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from wia_lab.cli import main
from wia_lab.commands import warming
from wia_lab.simt import compiled


class TestReport:
    """What it says of this machine."""

    def test_says_what_was_chosen_and_why(self, monkeypatch, capsys):
        """The simulator asked for by the environment is said to be."""
        monkeypatch.setenv("WIA_LAB_BACKEND", "simulator")
        assert main(["doctor"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "back end   simulator: WIA_LAB_BACKEND asks for it"
        [packages] = [line for line in lines if line.startswith("packages")]
        assert f"numba {version('numba')}, numpy {version('numpy')}" in packages

    def test_package_that_is_missing(self, monkeypatch, capsys):
        """A package that is not here is said not to be installed."""
        monkeypatch.setattr("wia_lab.commands.doctor.PACKAGES", ("no-such-package",))
        main(["doctor"])
        assert "packages   no-such-package not installed\n" in capsys.readouterr().out

    def test_back_end_that_does_not_exist(self, monkeypatch, capsys):
        """A misspelt WIA_LAB_BACKEND is refused with the names there are."""
        monkeypatch.setenv("WIA_LAB_BACKEND", "gpu")
        assert main(["doctor"]) != 0
        assert "WIA_LAB_BACKEND is 'gpu': set it to one of hardware, simulator" in (
            capsys.readouterr().err
        )

    def test_quiet(self, monkeypatch, capsys):
        """--quiet says nothing when all is well."""
        monkeypatch.setattr(warming, "helpers", lambda: (3, 3))
        assert main(["doctor", "--warm", "--quiet"]) == 0
        assert capsys.readouterr().out == capsys.readouterr().err == ""


class TestWarm:
    """Helpers are compiled once, and where they cannot be stored it is said."""

    @pytest.fixture(autouse=True)
    def cold(self, monkeypatch):
        """Let two of three helpers be missing."""
        monkeypatch.setattr(warming, "helpers", lambda: (1, 3))

    def test_compiles_what_is_missing(self, monkeypatch, tmp_path, capsys):
        """The message says what takes the time."""
        calls = []
        monkeypatch.setattr(compiled, "warm", lambda: calls.append(1) or tmp_path)
        assert main(["doctor", "--warm", "--quiet"]) == 0
        assert calls == [1]
        assert capsys.readouterr().err == (
            "wia-lab: compiling the simulator's helpers, once for all (about 10 s)\n"
        )

    def test_folder_that_cannot_be_written(self, monkeypatch, capsys):
        """The folder and the way out are named; the simulator works all the same."""
        monkeypatch.setattr(compiled, "warm", lambda: None)
        assert main(["doctor", "--warm", "--quiet"]) == 0
        said = capsys.readouterr().err
        assert f"{compiled.cache_folder()} cannot be written, so every process compiles" in said

    def test_report_says_how_to(self, capsys):
        """Without --warm nothing is compiled, and the report names the option."""
        main(["doctor"])
        assert "helpers    1 of 3 compiled in" in capsys.readouterr().out
