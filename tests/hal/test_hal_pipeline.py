"""Long pipelines: right on eight devices, and each operation costs the same however many came."""

from __future__ import annotations

import cProfile
import pstats
from itertools import pairwise
from typing import TYPE_CHECKING

import wia_lab.hal as wia
from wia_lab.cli import main
from wia_lab.commands import bench_hal
from wia_lab.commands.bench_hal import MACHINE, pipeline

if TYPE_CHECKING:
    import pytest


def calls(operations: int) -> float:
    """Python calls of a pipeline, for each of its operations."""
    machine = wia.open_machine(MACHINE)
    profile = cProfile.Profile()
    done = profile.runcall(pipeline, machine, operations)
    return pstats.Stats(profile).total_calls / done  # type: ignore[attr-defined]


def test_cost_does_not_grow() -> None:
    """Ten times the operations are ten times the calls, all in all and to a twentieth."""
    few, many = calls(600), calls(6_000)
    assert many < 1.05 * few


def test_clock() -> None:
    """Operations end in simulated time as the engines allow: chunks of a device share a call."""
    machine = wia.open_machine(MACHINE)
    assert pipeline(machine, 960) == 960
    calls_made = [each for each in machine.backend.timeline.finished if each.work.kind == "kernel"]
    assert len(calls_made) == 160
    by_device = [each.end for each in calls_made if each.stream.device == 3]
    assert len(by_device) == 20
    assert all(b - a >= 10_000 for a, b in pairwise(by_device))


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`wia-lab bench hal` prints a line a size."""
    assert main(["bench", "hal", "--most", "1000"]) == 0
    head, row, machine = capsys.readouterr().out.splitlines()
    assert head.split() == ["operations", "user", "s", "µs", "each", "MiB"]
    assert row.split()[0] == "996"
    assert machine.startswith(f"{MACHINE}, Python ")


def test_command_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline that does not come to its end is no measurement."""
    monkeypatch.setattr(bench_hal.sys, "executable", "false")
    assert main(["bench", "hal"]) == 3
