"""Runs of these tests on hardware are written down: see `wia_lab.commands.hardware_evidence`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.commands import hardware_evidence

if TYPE_CHECKING:
    import pytest


def pytest_configure(config: pytest.Config) -> None:
    """With WIA_LAB_HARDWARE_RECORD=FILE, how each test ended that was at work on hardware."""
    hardware_evidence.register(config)
