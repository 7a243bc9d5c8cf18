"""The same tests on real devices, and what is written down of them.

With WIA_LAB_HAL_MACHINE=hardware, machines that tests open are this computer's GPUs, as many as the
name says; a test that reaches for one more than there are, or needs what only a virtual machine has
(`virtual`), is skipped. See `wia_lab.commands.hardware_evidence` for the record.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NoReturn

import pytest

import wia_lab.hal as wia
from wia_lab.commands import hardware_evidence
from wia_lab.hal.machine import HARDWARE

if TYPE_CHECKING:
    from wia_lab.hal.backends.base import Backend

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


class Lent(wia.Machine):
    """Fewer real devices than a test asked for, which may be enough for it."""

    def __init__(self, backend: Backend, asked: int) -> None:
        super().__init__(backend)
        self.asked = asked

    def __len__(self) -> int:
        return self._lacking()

    def __iter__(self) -> Iterator[wia.Device]:
        return self._lacking()

    def __getitem__(self, number: int) -> wia.Device:  # type: ignore[override]
        if number in range(self.backend.device_count):
            return self._devices[number]
        return self._lacking()

    def _lacking(self) -> NoReturn:
        pytest.skip(f"needs {self.asked} devices")


def _opener(named: Callable[[object], wia.Machine]) -> Callable[[object], wia.Machine]:
    from wia_lab.hal.backends.hardware import HardwareBackend

    def opened(specification: object) -> wia.Machine:
        if specification == HARDWARE:
            return named(specification)
        count = len(named(specification))  # refuses what is no name
        there = HardwareBackend()
        if there.device_count < count:
            return Lent(there, count)
        return wia.Machine(HardwareBackend(count))

    return opened
