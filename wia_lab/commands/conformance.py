"""`wia-lab conformance`: the names of WIA-AI-011, what each is here, and whether it is proved."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wia_lab.errors import CannotRun
from wia_lab.wording import counted
from wia_lab.workbook import places

if TYPE_CHECKING:
    from wia_lab.hal.standard import Row

PROVED = "proved"
FAR = re.compile(r"\[ *(\d+%)\]$")  # ends each line of pytest's dots
ENDED = (0, 1, 5)  # pytest's exit codes: all passed, some did not, there was none


@click.command()
@click.option("--list", "only_list", is_flag=True, help="Print the table and run nothing.")
def conformance(*, only_list: bool) -> int:
    """Prove the table of WIA-AI-011's names.

    Each row has the standard's section and name, the Python name, the result on virtual machines,
    the part on which the same test has passed, and the test; below stands what was chosen where the
    sources leave a choice. The tests run on virtual machines and take about 20 s of one core; the
    runs on hardware are recorded.
    """
    from wia_lab.hal import standard
    from wia_lab.hal.standard.hardware import on_hardware, records

    table, runs = standard.TABLE, records()
    hardware = {row: on_hardware(row, runs) for row in table}
    if only_list:
        print_table(table, {}, hardware)
        return 0
    root = places.checkout()
    if root is None or not (root / "tests").is_dir():
        raise click.UsageError(
            "a wheel has no tests to prove the table with: run this in a clone, or give --list"
        )
    outcomes = run_tests({test for row in table for test in row.tests}, root)
    results = {row: result_of(row, outcomes) for row in table}
    print_table(table, results, hardware)
    click.echo(summary(table, results, hardware))
    for run in runs:
        click.echo(f"hardware: {run.device}, driver {run.driver}, {run.date}; {run.about[-1]}")
    return 0 if all(result == PROVED for result in results.values()) else 1


def run_tests(tests: Iterable[str], root: Path) -> dict[str, str]:
    """Return how each case of the tests ended; one that is not there is missing."""
    wanted = sorted(tests)
    click.echo(f"wia-lab: running {counted(len(wanted), 'test')}", err=True)
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder, "wanted.json"), Path(folder, "outcomes.json")
        asked.write_text(json.dumps(wanted), encoding="utf-8")
        with subprocess.Popen(
            [sys.executable, "-m", "wia_lab.commands.evidence", str(asked), str(told)],
            cwd=root,
            env={name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as running:
            said = list(passed_on(running.stdout or ()))
        if running.returncode not in ENDED or not told.is_file():
            last = said[-1] if said else f"exit {running.returncode}"
            raise CannotRun(f"the tests in {root / 'tests'} could not be run: {last}")
        outcomes: dict[str, str] = json.loads(told.read_text(encoding="utf-8"))
    return outcomes


def passed_on(lines: Iterable[str]) -> Iterator[str]:
    """Yield pytest's lines that say something; how far it has come is said on stderr at once."""
    for line in filter(None, map(str.strip, lines)):
        if far := FAR.search(line):
            click.echo(f"wia-lab: {far[1]} of the tests have run", err=True)
        yield line


def result_of(row: Row, outcomes: Mapping[str, str]) -> str:
    """Return "proved", or what is lacking.

    Of all cases of its tests none may fail and one must pass: others may lack what they need, as a
    GPU. Each test must be there.
    """
    from wia_lab.hal.standard import resolve

    try:
        resolve(row.python)
    except (AttributeError, ImportError):
        return "no callable"
    cases: dict[str, set[str]] = {test: set() for test in row.tests}
    for node, outcome in outcomes.items():
        if (test := node.partition("[")[0]) in cases:
            cases[test].add(outcome)
    ended = set().union(*cases.values())
    if "failed" in ended:
        return "failed"
    if not all(cases.values()):
        return "not run"
    return PROVED if "passed" in ended else "skipped"


def print_table(
    table: Iterable[Row], results: Mapping[Row, str], hardware: Mapping[Row, str]
) -> None:
    """Print a line a row, and its choice below; without results that column is a dash."""
    lines = [
        (
            row.section,
            row.name,
            row.python,
            results.get(row, "-"),
            hardware[row],
            ", ".join(row.tests),
            row.choice,
        )
        for row in table
    ]
    heads = ("section", "name", "Python", "result", "hardware", "proved by", "")
    widths = [max(len(line[i]) for line in [heads, *lines]) for i in range(5)]
    for *cells, test, choice in [heads, *lines]:
        columns = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        click.echo(f"{columns}  {test}")
        if choice:
            click.echo(f"{'':{widths[0]}}    {choice}")


def summary(table: Iterable[Row], results: Mapping[Row, str], hardware: Mapping[Row, str]) -> str:
    """Return how many rows ended how, on virtual machines and on hardware."""
    rows = list(table)
    counts = Counter(results[row] for row in rows)
    lacking = "".join(f", {count} {result}" for result, count in counts.items() if result != PROVED)
    on = Counter(hardware[row] for row in rows)
    told = ", ".join(f"{count} {end}" for end, count in sorted(on.items()))
    return (
        f"\n{len({row.name for row in rows})} names in {len(rows)} rows, on virtual machines: "
        f"{counts[PROVED]} proved{lacking}; on hardware: {told}"
    )
