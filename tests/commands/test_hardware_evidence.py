"""What is written down of a run on hardware: the tests that were at work there, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wia_lab.errors import WiaLabError
from wia_lab.hal.standard.hardware import HardwareRecord, parse, records, write

CONFTEST = """
import pytest
from wia_lab.commands import hardware_evidence
from wia_lab.hal import Context, Machine, open_machine
from wia_lab.hal.backends.virtual import VirtualBackend

class Real(VirtualBackend):
    is_virtual = False

def pytest_configure(config):
    hardware_evidence.part = lambda: ("NVIDIA H200", "580.1")
    hardware_evidence.register(config)

@pytest.fixture
def real():
    with Context(Machine(Real("1xH200"))[0]) as context:
        yield context

@pytest.fixture
def virtual():
    with Context(open_machine("1xH200")[0]) as context:
        yield context
"""
TESTS = """
import pytest

@pytest.mark.parametrize("n", [1, 2, 3])
def test_cases(real, n):
    if n == 3:
        pytest.skip("not here")
    assert n == 1

def test_right(real):
    assert not real.device.machine.is_virtual

def test_virtual(virtual):
    assert False

def test_neither():
    pass

class TestIn:
    def test_late(self, request):
        request.getfixturevalue("real")
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests above, to be recorded."""
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_some.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    environment |= {"WIA_LAB_HARDWARE_RECORD": "hal_h200.csv", "WIA_LAB_HAL_MACHINE": "hardware"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_record(tmp_path: Path) -> None:
    """Date, part, driver and command; for each test, how many cases ended how."""
    said = run(tmp_path)
    assert said.returncode == 1, said.stdout + said.stderr
    found = parse((tmp_path / "hal_h200.csv").read_text(encoding="utf-8"), "hal_h200.csv")
    assert (found.device, found.driver) == ("NVIDIA H200", "580.1")
    assert found.about[-1] == (
        "WIA_LAB_HAL_MACHINE=hardware WIA_LAB_HARDWARE_RECORD=hal_h200.csv python -m pytest -q -p "
        "no:cacheprovider"
    )
    assert found.cases == {
        "test_some.py::test_cases": {"passed": 1, "failed": 1, "skipped": 1},
        "test_some.py::test_right": {"passed": 1, "failed": 0, "skipped": 0},
        "test_some.py::TestIn::test_late": {"passed": 1, "failed": 0, "skipped": 0},
    }
    assert found.host == {"test_some.py::test_neither": {"passed": 1, "failed": 0, "skipped": 0}}
    assert found.of("test_some.py::test_cases") == "failed on NVIDIA H200"
    assert found.of("test_some.py::test_virtual") == "not run"
    assert found.of("test_some.py::test_neither") == "no device"


def test_nothing_on_hardware(tmp_path: Path) -> None:
    """No record of a run that opened no real device."""
    assert run(tmp_path, "-k", "neither").returncode == 0
    assert not (tmp_path / "hal_h200.csv").exists()


def test_several_processes(tmp_path: Path) -> None:
    """None of them sees all tests."""
    said = run(tmp_path, "-n", "2")
    assert said.returncode == 4
    assert "WIA_LAB_HARDWARE_RECORD needs one process: leave -n out" in said.stderr


def test_there_and_back(tmp_path: Path) -> None:
    """What was written is read."""
    cases = {"tests/hal/test_a.py::test_b": {"passed": 2, "failed": 0, "skipped": 1}}
    host = {"tests/hal/test_a.py::test_c": {"passed": 1, "failed": 0, "skipped": 0}}
    about = "versions", "command"
    record = HardwareRecord("2026-11-30", "NVIDIA H200", "580.1", about, cases, host)
    write(tmp_path / "hal_h200.csv", record)
    assert parse((tmp_path / "hal_h200.csv").read_text(encoding="utf-8"), "") == record


@pytest.mark.parametrize(
    "text",
    [
        "",
        "test,device,passed,failed,skipped\n",
        "# 2026-11-30, H200\ntest,device,passed,failed,skipped\n",
        "# 2026-11-30, H200, 580\ntest,passed\na,1\n",
        "# 2026-11-30, H200, 580\ntest,device,passed,failed,skipped\na,yes,1,x,0\n",
        "# 2026-11-30, H200, 580\ntest,device,passed,failed,skipped\na,maybe,1,0,0\n",
    ],
)
def test_no_record(text: str) -> None:
    """The file is named, and what to do."""
    with pytest.raises(WiaLabError, match=r"^hal_x\.csv is no record .*write it anew"):
        parse(text, "hal_x.csv")


def test_those_of_this_package() -> None:
    """Each can be read."""
    for each in records():
        assert each.cases
