"""The table of the reference kernels: recorded on an H200, written, read and printed."""

from __future__ import annotations

import csv
import datetime as dt
import io
import platform
import subprocess
from dataclasses import asdict, fields
from functools import cache
from importlib import resources
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from wia_lab.kernels.measure import Row
from wia_lab.kernels.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RECORDED = "benchmarks_kernels_h200.csv"
NAMES = tuple(field.name for field in fields(Row))
TEXTS = ("topic", "step", "size", "unit", "beside")
TOLERANCES = {each.topic.name: each.topic.tolerance for each in WORKLOADS}


@cache
def recorded() -> tuple[Row, ...]:
    """The rows recorded on an H200."""
    return parse(_text())


def header() -> list[str]:
    """When, on what and how they were recorded."""
    return [line[2:] for line in _text().splitlines() if line.startswith("# ")]


def _text() -> str:
    return (resources.files("wia_lab") / "data" / RECORDED).read_text(encoding="utf-8")


def parse(text: str) -> tuple[Row, ...]:
    """Rows of a table as `write` made it."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(Row(**_values(each)) for each in csv.DictReader(lines))


def _values(row: dict[str, str]) -> dict[str, Any]:
    return {
        name: value if name in TEXTS else float(value) if value else None
        for name, value in row.items()
    }


def write(rows: Iterable[Row], notes: Sequence[str]) -> str:
    """The table as CSV, `notes` above it as comments."""
    text = io.StringIO()
    text.writelines(f"# {line}\n" for line in notes)
    writer = csv.DictWriter(text, NAMES, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(asdict(row))
    return text.getvalue()


def circumstances(command: str) -> list[str]:
    """Date, GPU, driver, versions and the command of a run on this machine."""
    gpu = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()[0]
    names = ("numba", "numba-cuda", "numpy", "torch")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    date = dt.datetime.now(dt.UTC).date()
    return [f"{date}, {gpu}", f"{versions}, Python {platform.python_version()}", command]


def is_right(row: Row) -> bool:
    """Whether the step's errors, at full size and at the small ones, are within its tolerance."""
    errors = [each for each in (row.error, row.small_error) if each is not None]
    return all(each <= TOLERANCES[row.topic] for each in errors)  # NaN is not


def render(rows: Sequence[Row]) -> str:
    """The rows as text, a line each; the best right step of a ladder says if it is near enough.

    Topics stand apart by an empty line.
    """
    lines = [
        f"{'topic':<20}{'step':<26}{'ms':>10}{'rate':>10} {'unit':<8}{'ratio':>6}"
        f"  {'beside':<16}{'of':>8}{'error':>10}"
    ]
    previous = ""
    for row in rows:
        if row.topic != previous:
            lines.append("")
        previous = row.topic
        lines.append(_line(row, rows))
    return "\n".join(lines)


def _line(row: Row, rows: Sequence[Row]) -> str:
    start = f"{row.topic:<20}{row.step:<26}{row.milliseconds:>10.3f}{row.rate:>10,.1f} "
    if row.ratio is None or row.beside_rate is None or row.error is None:
        return f"{start}{row.unit:<8}{'':>6}  {row.size}"
    best = max(
        (each.ratio or 0.0 for each in rows if each.topic == row.topic and is_right(each)),
        default=0.0,
    )
    verdict = "" if is_right(row) else "  wrong answer"
    if row.reach is not None and row.ratio == best and is_right(row):
        verdict = f"  {'reaches' if best >= row.reach else 'misses'} {row.reach:.2f}"
    return (
        f"{start}{row.unit:<8}{row.ratio:>6.3f}  {row.beside:<16}{row.beside_rate:>8,.1f}"
        f"{row.error:>10.1e}{verdict}"
    )
