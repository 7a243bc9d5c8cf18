"""README.md opens with the two commands and stays short; test_docs.py tries what it says."""

from __future__ import annotations

from pathlib import Path

from wia_lab import cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TWO_SCREENS = 110


def test_opens_with_the_two_commands():
    """The first lines after the title are the two commands."""
    lines = [line.split("#")[0].strip() for line in README.splitlines()[1:] if line.strip()]
    assert lines[:2] == ["make lab", "make test"]


def test_fits_two_screens():
    """A reader sees all of it in two screens."""
    assert len(README.splitlines()) <= TWO_SCREENS


def test_the_wheels_name():
    """The wheel that is installed is the one that is built."""
    assert f"wia_lab-{cli.__version__}-py3-none-any.whl" in README
