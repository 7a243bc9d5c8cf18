"""The same tests on real devices, and what is written down of them.

With WIA_LAB_HAL_MACHINE=hardware, machines that tests open are this computer's GPUs, as many as the
name says; a test that needs more, or what only a virtual machine has (`virtual`), is skipped. See
`wia_lab.commands.hardware_evidence` for the record.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

import pytest

import wia_lab.hal as wia
from wia_lab.commands import hardware_evidence
from wia_lab.hal.machine import HARDWARE

VARIABLE = "WIA_LAB_HAL_MACHINE"


def pytest_configure(config: pytest.Config) -> None:
    """With WIA_LAB_HARDWARE_RECORD=FILE, how each test ended that was at work on hardware."""
    hardware_evidence.register(config)


def is_real() -> bool:
    """Whether machines that tests open are real."""
    return os.environ.get(VARIABLE) == HARDWARE


@pytest.fixture
def on_hardware() -> bool:
    """As `is_real`."""
    return is_real()


@pytest.fixture(autouse=True)
def _real_devices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open real devices where the test asks for virtual ones, if the environment says so."""
    if not is_real():
        return
    if (mark := request.node.get_closest_marker("virtual")) is not None:
        pytest.skip(mark.args[0])
    monkeypatch.setattr(wia, "open_machine", _opener(wia.open_machine))
    # Grids of tests are small, which numba-cuda remarks on
    warnings.filterwarnings("ignore", message=".*Grid size")


def _opener(named: Callable[[object], wia.Machine]) -> Callable[[object], wia.Machine]:
    from wia_lab.hal.backends.hardware import HardwareBackend

    def opened(specification: object) -> wia.Machine:
        if specification == HARDWARE:
            return named(specification)
        count = len(named(specification))  # refuses what is no name
        try:
            return wia.Machine(HardwareBackend(count))
        except wia.InvalidValue as error:
            pytest.skip(str(error))

    return opened
