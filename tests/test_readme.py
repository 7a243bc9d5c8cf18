"""README.md: what it tells a reader to type exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wia_lab import cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"wia-lab ([a-z]+)((?: simulator)?)", README)))
TARGETS = sorted(set(re.findall(r"\bmake ([a-z]+)\b", README)))
PATHS = ("docs/why.md", "docs/decisions/", "solutions/README.md", "tools/check_lock.py")
TWO_SCREENS = 110


def test_opens_with_the_two_commands():
    """The first lines after the title are the two commands."""
    lines = [line.split("#")[0].strip() for line in README.splitlines()[1:] if line.strip()]
    assert lines[:2] == ["make lab", "make test"]


def test_fits_two_screens():
    """A reader sees all of it in two screens."""
    assert len(README.splitlines()) <= TWO_SCREENS


@pytest.mark.parametrize(("command", "topic"), COMMANDS)
def test_command_exists(command, topic, capsys):
    """Each `wia-lab` command named has a help page."""
    assert cli.main([command, *topic.split(), "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: wia-lab {command}")


def test_make_targets_exist():
    """Each `make` target named is one of the Makefile's."""
    assert {"lab", "test"} <= set(TARGETS)
    rules = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(TARGETS) <= set(rules)


@pytest.mark.parametrize("path", PATHS)
def test_file_exists(path):
    """Each file that the README names is there."""
    assert path in README
    assert (ROOT / path).exists()


def test_the_wheels_name():
    """The wheel that is installed is the one that is built."""
    assert f"wia_lab-{cli.__version__}-py3-none-any.whl" in README
