"""Which tests of the table ran on hardware, and how they ended: `wia_lab/data/hal_*.csv`.

A file is of one run on one part. It is written by the tests themselves (`tests/hal/conftest.py`):
those that opened a machine of real devices, and, apart, those that passed there and opened no
machine at all, as arithmetic on the host does.
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
NO_DEVICE = "no device"
OUTCOMES = ("passed", "failed", "skipped")
FIELDS = ("test", "device", *OUTCOMES)


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
    host : mapping of str to mapping
        The same of tests that ran there and opened no machine.
    """

    date: str
    device: str
    driver: str
    about: tuple[str, ...] = ()
    cases: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    host: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def of(self, test: str) -> str:
        """The part where the test passed; else what became of it there."""
        counts = self.cases.get(test, {})
        if counts.get("failed"):
            return f"failed on {self.device}"
        if counts.get("passed"):
            return self.device
        if counts.get("skipped"):
            return "skipped"
        return NO_DEVICE if self.host.get(test, {}).get("passed") else NOT_RUN


def records() -> tuple[HardwareRecord, ...]:
    """All that this package was shipped with, by name of the file."""
    found = files("wia_lab").joinpath("data").iterdir()
    names = sorted(
        (each for each in found if each.name.startswith("hal_") and each.name.endswith(".csv")),
        key=lambda each: each.name,
    )
    return tuple(parse(each.read_text(encoding="utf-8"), each.name) for each in names)


def on_hardware(row: Row, found: Iterable[HardwareRecord]) -> str:
    """Where the tests of a row ran, and how they ended where they did not pass."""
    ends = dict.fromkeys(each.of(test) for each in found for test in row.tests)
    said = [end for end in ends if end not in (NOT_RUN, NO_DEVICE, "skipped")]
    lacking = (each for each in (NO_DEVICE, "skipped") if each in ends)
    return ", ".join(said) or next(lacking, NOT_RUN)


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
        tables: dict[str, dict[str, dict[str, int]]] = {"yes": {}, "no": {}}
        for row in rows:
            counts = {each: int(row[each]) for each in OUTCOMES}
            tables[row["device"]][row["test"]] = counts
    except (KeyError, TypeError, ValueError) as error:
        raise WiaLabError(
            f"{name} is no record of tests on hardware ({error!r}): write it anew with "
            "WIA_LAB_HARDWARE_RECORD"
        ) from error
    return HardwareRecord(date, device, driver, tuple(about[1:]), tables["yes"], tables["no"])


def write(path: Path, record: HardwareRecord) -> None:
    """Write a record, beside its name first: whoever reads it sees all of it."""
    beside = path.with_name(f".{path.name}.writing")
    with beside.open("w", encoding="utf-8", newline="") as file:
        for line in (f"{record.date}, {record.device}, {record.driver}", *record.about):
            file.write(f"# {line}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FIELDS)
        for device, cases in (("yes", record.cases), ("no", record.host)):
            for test in sorted(cases):
                table.writerow([test, device, *(cases[test].get(each, 0) for each in OUTCOMES)])
    beside.replace(path)
