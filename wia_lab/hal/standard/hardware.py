"""Which tests of the table ran on hardware, and how they ended: `wia_lab/data/hal_*.csv`.

A file is of one run on one part. It is written by the tests themselves (`tests/hal/conftest.py`),
of those only that opened a machine of real devices.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

from wia_lab.errors import WiaLabError

if TYPE_CHECKING:
    from pathlib import Path

    from wia_lab.hal.standard.row import Row

NOT_RUN = "not run"
OUTCOMES = ("passed", "failed", "skipped")
FIELDS = ("test", *OUTCOMES)


@dataclass(frozen=True, slots=True)
class HardwareRecord:
    """One run of the tests on one part.

    Attributes
    ----------
    date, device, driver : str
        When, on what, and under which driver.
    about : tuple of str
        Versions, and the command that wrote it.
    cases : mapping of str to mapping
        For each test's node id, without its case, how many of its cases ended how.
    """

    date: str
    device: str
    driver: str
    about: tuple[str, ...] = ()
    cases: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def of(self, test: str) -> str:
        """The part where the test passed; else what became of it there."""
        counts = self.cases.get(test, {})
        if counts.get("failed"):
            return f"failed on {self.device}"
        if counts.get("passed"):
            return self.device
        return "skipped" if counts.get("skipped") else NOT_RUN


def records() -> tuple[HardwareRecord, ...]:
    """All that this package was shipped with, by name of the file."""
    found = files("wia_lab").joinpath("data").iterdir()
    names = sorted(
        (each for each in found if each.name.startswith("hal_") and each.name.endswith(".csv")),
        key=lambda each: each.name,
    )
    return tuple(parse(each.read_text(encoding="utf-8"), each.name) for each in names)


def on_hardware(row: Row, found: Iterable[HardwareRecord]) -> str:
    """Where the test of a row ran, and how it ended where it did not pass."""
    ends = dict.fromkeys(each.of(row.test) for each in found)
    said = [end for end in ends if end not in (NOT_RUN, "skipped")]
    return ", ".join(said) or ("skipped" if "skipped" in ends else NOT_RUN)


def parse(text: str, name: str) -> HardwareRecord:
    """A record from its file's text.

    Raises
    ------
    WiaLabError
        For a file that is none.
    """
    lines = text.splitlines()
    about = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
    head = about[0].split(", ") if about else []
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    try:
        date, device, driver = head
        cases = {row["test"]: {each: int(row[each]) for each in OUTCOMES} for row in rows}
    except (KeyError, TypeError, ValueError) as error:
        raise WiaLabError(
            f"{name} is no record of tests on hardware ({error!r}): write it anew with "
            "WIA_LAB_HARDWARE_RECORD"
        ) from error
    return HardwareRecord(date, device, driver, tuple(about[1:]), cases)


def write(path: Path, record: HardwareRecord) -> None:
    """Write a record, beside its name first: whoever reads it sees all of it."""
    beside = path.with_name(f".{path.name}.writing")
    with beside.open("w", encoding="utf-8", newline="") as file:
        for line in (f"{record.date}, {record.device}, {record.driver}", *record.about):
            file.write(f"# {line}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FIELDS)
        for test in sorted(record.cases):
            table.writerow([test, *(record.cases[test].get(each, 0) for each in OUTCOMES)])
    beside.replace(path)
