"""`wia-lab conformance`: well only when each name leads somewhere and its test has passed."""

from __future__ import annotations

import pytest

from wia_lab.cli import main
from wia_lab.hal.standard import Row, hardware
from wia_lab.hal.standard.hardware import HardwareRecord
from wia_lab.workbook import places

TESTS = """\
import pytest

def test_passes():
    pass

@pytest.mark.parametrize("n", [1, 2])
def test_cases(n):
    assert n == 1

class TestIn:
    def test_skipped(self):
        pytest.skip("nothing here")

    @pytest.mark.parametrize("n", [1, 2])
    def test_some(self, n):
        if n == 1:
            pytest.skip("nothing here")

@pytest.fixture
def broken():
    yield
    raise ValueError("while tidying up")

def test_untidy(broken):
    pass
"""
GOOD = Row("3.1", "wia_good", "wia_lab.hal.matmul", ("tests/test_some.py::test_passes",))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command over a table, in a checkout with the tests above."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_some.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.setattr(places, "checkout", lambda: tmp_path)
    monkeypatch.setattr(hardware, "records", lambda: ())

    def over(*table, argv=()):
        monkeypatch.setattr("wia_lab.hal.standard.TABLE", table)
        code = main(["conformance", *argv])
        return code, capsys.readouterr()

    return over


def row(test, python="wia_lab.hal.relu"):
    """A row whose tests may be anything."""
    tests = tuple(f"tests/{each}" for each in test.split())
    return Row("3.2", "wia_other", python, tests, "Said why.")


def test_well(run):
    """0, the table on stdout with each choice below its row, and the counts."""
    code, printed = run(GOOD, row("test_some.py::TestIn::test_some"))
    assert code == 0
    assert printed.out.splitlines() == [
        "section  name       Python              result  hardware  proved by",
        "3.1      wia_good   wia_lab.hal.matmul  proved  not run   tests/test_some.py::test_passes",
        "3.2      wia_other  wia_lab.hal.relu    proved  not run   "
        "tests/test_some.py::TestIn::test_some",
        "           Said why.",
        "",
        "2 names in 2 rows, on virtual machines: 2 proved; on hardware: 2 not run",
    ]
    assert printed.err == "wia-lab: running 2 tests\nwia-lab: 100% of the tests have run\n"


@pytest.mark.parametrize(
    ("other", "result"),
    [
        (row("test_some.py::test_passes", python="wia_lab.hal.no_such"), "no callable"),
        (row("test_some.py::test_cases"), "failed"),
        (row("test_some.py::test_untidy"), "failed"),
        (row("test_some.py::TestIn::test_skipped"), "skipped"),
        (row("test_some.py::test_gone"), "not run"),
        (row("test_gone.py::test_gone"), "not run"),
        (row("test_some.py::test_passes test_some.py::test_gone"), "not run"),
        (row("test_some.py::test_passes test_some.py::test_cases"), "failed"),
    ],
    ids=["callable", "case", "tidying", "skip", "test", "file", "one gone", "one failed"],
)
def test_lacking(run, other, result):
    """1 for a name that leads nowhere or a test that did not pass; the other is proved."""
    code, printed = run(GOOD, other)
    assert code == 1
    [line] = [line for line in printed.out.splitlines() if " wia_other " in line]
    assert f"  {result}  " in line
    assert printed.out.endswith(f" 1 proved, 1 {result}; on hardware: 2 not run\n")


def test_list_runs_nothing(run):
    """--list prints the rows, and is well whatever they are."""
    code, printed = run(GOOD, row("test_gone.py::test_gone"), argv=["--list"])
    assert (code, printed.err) == (0, "")
    assert "  -       not run   tests/test_gone.py::test_gone\n" in printed.out


def test_a_file_that_cannot_be_read(run, tmp_path):
    """It proves nothing; the tests of other files are run."""
    (tmp_path / "tests" / "test_odd.py").write_text("def (", encoding="utf-8")
    code, printed = run(GOOD, row("test_odd.py::test_odd"))
    assert code == 1
    assert printed.out.endswith(" 1 proved, 1 not run; on hardware: 2 not run\n")


def test_tests_that_cannot_be_run(run, tmp_path):
    """Where pytest itself gives up: 3, and its last line."""
    (tmp_path / "tests" / "conftest.py").write_text("raise OSError('no disk')", encoding="utf-8")
    code, printed = run(GOOD)
    assert (code, printed.out) == (3, "")
    assert printed.err.splitlines()[1:] == [
        f"wia-lab: the tests in {tmp_path / 'tests'} could not be run: E   OSError: no disk"
    ]


def test_wheel(run, monkeypatch):
    """Without tests: 2, and what to do instead."""
    monkeypatch.setattr(places, "checkout", lambda: None)
    code, printed = run(GOOD)
    assert code == 2
    assert printed.out == ""
    assert printed.err == (
        "wia-lab: a wheel has no tests to prove the table with: run this in a clone, or give "
        "--list: see wia-lab conformance --help\n"
    )
    assert run(GOOD, argv=["--list"])[0] == 0


def test_hardware(run, monkeypatch):
    """The column has the part where a row's test passed, or what became of it; and who ran it."""
    test = "tests/test_some.py::{}".format
    cases = {
        test("test_passes"): {"passed": 3, "failed": 0, "skipped": 1},
        test("test_cases"): {"passed": 1, "failed": 1, "skipped": 0},
        test("TestIn::test_skipped"): {"passed": 0, "failed": 0, "skipped": 1},
    }
    host = {test("TestIn::test_some"): {"passed": 1, "failed": 0, "skipped": 1}}
    record = HardwareRecord("2026-11-30", "NVIDIA H200", "580.1", ("made", "command"), cases, host)
    monkeypatch.setattr(hardware, "records", lambda: (record,))
    names = ("test_cases", "TestIn::test_skipped", "test_untidy", "TestIn::test_some")
    tests = [f"test_some.py::{name}" for name in names]
    code, printed = run(GOOD, *map(row, tests), row(f"{tests[3]} test_some.py::test_passes"))
    assert code == 1
    head, *rows = (
        line for line in printed.out.splitlines() if " tests/" in line or "  name" in line
    )
    place = head.index("hardware")
    assert [line[place:].split("  ")[0] for line in rows] == [
        "NVIDIA H200",
        "failed on NVIDIA H200",
        "skipped",
        "not run",
        "no device",
        "NVIDIA H200",
    ]
    assert printed.out.endswith(
        "on hardware: 2 NVIDIA H200, 1 failed on NVIDIA H200, 1 no device, 1 not run, 1 skipped\n"
        "hardware: NVIDIA H200, driver 580.1, 2026-11-30; command\n"
    )
