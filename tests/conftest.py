"""What every test stands on: the simulator as back end, hazards raised, settled Hypothesis."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Before wia_lab.cuda is first used, and kept by the processes that tests start
os.environ.setdefault("WIA_LAB_BACKEND", "simulator")


@pytest.fixture(autouse=True)
def default_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test see the hazard mode of the shell that runs it."""
    monkeypatch.delenv("WIA_LAB_HAZARDS", raising=False)


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
