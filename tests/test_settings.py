"""Environment variables: what they may be, and what every reader says of the rest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import wia_lab
from wia_lab import settings
from wia_lab.cli import main
from wia_lab.settings import SettingError, check_settings, setting

BAD = [
    ("WIA_LAB_BACKEND", "gpu", "set it to one of hardware, simulator"),
    ("WIA_LAB_BACKEND", "", "set it to one of hardware, simulator"),
    ("WIA_LAB_BACKEND", "SIMULATOR", "write simulator"),
    ("WIA_LAB_BACKEND", " hardware ", "write hardware"),
    ("WIA_LAB_HAZARDS", "ignore", "set it to one of raise, warn, off"),
    ("WIA_LAB_HAZARDS", "", "set it to one of raise, warn, off"),
    ("WIA_LAB_HAZARDS", "Off", "write off"),
    ("WIA_LAB_HAZARDS", "warn ", "write warn"),
    ("WIA_LAB_DEVICE", "", "set it to one of V100, T4, "),
    ("WIA_LAB_DEVICE", "X900", "set it to one of V100, T4, "),
    ("WIA_LAB_DEVICE", " H100\t", "write H100"),
]


@pytest.mark.parametrize("variable", settings.VALUES)
class TestAllowed:
    """A value that is allowed is what the reader gets."""

    def test_not_set(self, variable, monkeypatch):
        monkeypatch.delenv(variable, raising=False)
        assert setting(variable) is None

    def test_each(self, variable, monkeypatch):
        for value in settings.VALUES[variable]:
            monkeypatch.setenv(variable, value)
            assert setting(variable) == value
            check_settings()

    def test_the_module_s_table_has_it(self, variable):
        """The docstring's row of a variable gives all its values."""
        [row] = [line for line in settings.__doc__.splitlines() if line.startswith(f"`{variable}`")]
        if variable != settings.DEVICE:
            assert ", ".join(settings.VALUES[variable]) in row


def test_a_device_s_name_is_as_the_catalogue_takes_it(monkeypatch):
    """Case and blanks of a device's name are those that `machines.device` forgives."""
    monkeypatch.setenv("WIA_LAB_DEVICE", "rtx4090")
    assert wia_lab.cuda.get_current_device().name == "RTX 4090"


@pytest.mark.parametrize(("variable", "value", "meant"), BAD)
class TestRefused:
    """One sentence names the variable, the value and what to write."""

    def test_the_sentence(self, variable, value, meant, monkeypatch):
        monkeypatch.setenv(variable, value)
        with pytest.raises(SettingError) as caught:
            check_settings()
        said = str(caught.value)
        assert said.startswith(f"the environment variable {variable} is {value!r}: {meant}")
        assert said.endswith(", or unset it")

    def test_every_command_says_it_first(self, variable, value, meant, monkeypatch, capsys):
        monkeypatch.setenv(variable, value)
        for command in ("check", "doctor", "puzzles", "start"):
            assert main([command]) == 2
            told = capsys.readouterr()
            assert told.out == ""
            assert re.fullmatch(
                f"wia-lab: the environment variable {variable} is .*: {meant}.*\n", told.err
            )


def test_a_first_cell_says_it_and_runs_once_it_is_mended(tmp_path):
    """`from wia_lab import cuda` is refused with the sentence, and taken after the mend."""
    code = (
        "import os, wia_lab\n"
        "from wia_lab.settings import SettingError\n"
        "try:\n    from wia_lab import cuda\n"
        "except SettingError as error:\n    print(error)\n"
        "del os.environ['WIA_LAB_HAZARDS']\n"
        "from wia_lab import check, cuda\nprint(cuda.backend)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "WIA_LAB_HAZARDS": "OFF", "WIA_LAB_BACKEND": "simulator"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "the environment variable WIA_LAB_HAZARDS is 'OFF': write off, or unset it",
        "simulator",
    ]


def test_every_variable_that_the_package_reads_is_checked():
    """A name that begins with WIA_LAB_ and stands in the package is one of the table's, or a path.

    The two that only tests read name a file and a machine, and are told where they are read.
    """
    package = Path(wia_lab.__file__).parent
    named = {
        name
        for path in package.rglob("*.py")
        for name in re.findall(r"WIA_LAB_[A-Z_]+", path.read_text(encoding="utf-8"))
    }
    assert named - set(settings.VALUES) == {"WIA_LAB_HAL_MACHINE", "WIA_LAB_HARDWARE_RECORD"}
