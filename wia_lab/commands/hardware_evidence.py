"""Writes down which tests ran on hardware: a pytest plugin that `tests/hal/conftest.py` registers.

    WIA_LAB_HAL_MACHINE=hardware WIA_LAB_HARDWARE_RECORD=wia_lab/data/hal_h200.csv \
        python -m pytest tests/hal tests/memory

A test counts when a machine of real devices was opened while it was set up or ran. What opened a
virtual machine alone proves nothing about hardware, and is left out; what opened none, as an
allocator's arithmetic does, is written down as that.
"""

from __future__ import annotations

import datetime as dt
import functools
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wia_lab.commands.evidence import without_case
from wia_lab.hal.machine import Machine
from wia_lab.hal.standard.hardware import HardwareRecord, write

VARIABLE = "WIA_LAB_HARDWARE_RECORD"


class HardwareEvidence:
    """Keeps how each test ended that was at work on hardware, and writes a record at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.devices: Counter[str] = Counter()
        self._opened = ""
        self._ended: dict[str, str] = {}
        self._on_hardware: set[str] = set()
        self._on_host: set[str] = set()
        self._make = Machine.__init__

    def pytest_configure(self) -> None:
        """Look at each machine that is opened from now on."""
        make = self._make

        @functools.wraps(make)
        def watched(machine: Machine, *arguments: Any, **options: Any) -> None:
            make(machine, *arguments, **options)
            if not machine.is_virtual:
                self._opened = "real"
                self.devices[machine[0].info.name] += 1
            self._opened = self._opened or "virtual"

        Machine.__init__ = watched  # type: ignore[method-assign, assignment]

    def pytest_runtest_logstart(self) -> None:
        """Begin a test, which has used nothing yet."""
        self._opened = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst of set-up, call and tear-down."""
        if self._opened == "real":
            self._on_hardware.add(report.nodeid)
        if self._opened:
            self._on_host.discard(report.nodeid)
        elif report.when == "setup":
            self._on_host.add(report.nodeid)
        if self._ended.get(report.nodeid, "passed") == "passed":
            self._ended[report.nodeid] = report.outcome

    def pytest_sessionfinish(self) -> None:
        """Write the record, if anything was at work on hardware."""
        if not self._on_hardware:
            return
        cases, host = self._counts(self._on_hardware), self._counts(self._on_host)
        device, driver = part() or (self.devices.most_common(1)[0][0], "driver unknown")
        about = f"Python {platform.python_version()}, numpy {np.__version__}", command()
        today = dt.datetime.now(tz=dt.UTC).date().isoformat()
        write(self.path, HardwareRecord(today, device, driver, about, cases, host))

    def _counts(self, nodes: Iterable[str]) -> dict[str, Counter[str]]:
        """How many cases of each test ended how."""
        cases: dict[str, Counter[str]] = {}
        for node in nodes:
            cases.setdefault(without_case(node), Counter())[self._ended[node]] += 1
        return cases

    def pytest_unconfigure(self) -> None:
        """Look no more."""
        Machine.__init__ = self._make  # type: ignore[method-assign]


def register(config: pytest.Config) -> None:
    """Add the plugin, where the environment names a file for the record.

    Raises
    ------
    pytest.UsageError
        With several processes, of which none sees all tests.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return
    if config.getoption("numprocesses", None) or hasattr(config, "workerinput"):
        raise pytest.UsageError(f"{VARIABLE} needs one process: leave -n out")
    config.pluginmanager.register(HardwareEvidence(Path(path)))


def part() -> tuple[str, str] | None:
    """How many GPUs of which name, and their driver; None where nvidia-smi does not tell."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        lines = told.splitlines()
        name, driver = lines[0].split(", ")
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError):
        return None
    return f"{len(lines)} x {name}", driver


def command() -> str:
    """The command line of this run."""
    settings = [
        f"{name}={os.environ[name]}"
        for name in ("WIA_LAB_HAL_MACHINE", VARIABLE)
        if name in os.environ
    ]
    return " ".join([*settings, "python -m pytest", *sys.argv[1:]])
