"""The notebook of a verdict: answers as data, a cell an entry; nbval runs it and must agree.

Nothing of a student's is run in it: an answer stands there as the text of a string.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import nbformat

from wia_lab.grading.entry import VERDICT
from wia_lab.grading.refusal import LONGEST
from wia_lab.workbook import catalogue, form
from wia_lab.workbook.files import write_atomically

SECONDS = 300
NAME = "official.ipynb"


def notebook_of(
    results: dict[str, Any], sources: dict[str, str]
) -> tuple[str, list[tuple[str, str]]]:
    """Return a notebook's text, and the puzzle and entry of each check cell, in order."""
    cells = [nbformat.v4.new_code_cell("from wia_lab.grading.entry import passed", id="setup")]
    checks: list[tuple[str, str]] = []
    for puzzle_id, result in results.items():
        puzzle = catalogue.find(puzzle_id)
        title = f"# {puzzle.number:02d} {puzzle.title}"
        cells.append(nbformat.v4.new_markdown_cell(title, id=f"title-{puzzle_id}"))
        answer = f"answer = {sources.get(puzzle_id, '')[:LONGEST]!r}"
        cells.append(nbformat.v4.new_code_cell(answer, id=f"answer-{puzzle_id}"))
        for number, (name, _, _) in enumerate(result["entries"]):
            checks.append((puzzle_id, name))
            call = f"passed({puzzle_id!r}, {name!r})"
            cells.append(nbformat.v4.new_code_cell(call, id=f"check-{puzzle_id}-{number}"))
    metadata = {"kernelspec": form.KERNEL, "language_info": {"name": "python"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    return str(nbformat.writes(notebook)) + "\n", checks


def confirm(results: dict[str, Any], sources: dict[str, str]) -> dict[str, Any]:
    """Have nbval run the notebook of a verdict.

    Returns
    -------
    dict
        `confirmed`, the (puzzle, entry) pairs that passed under nbval; `ran`, whether it came to
        an end; `seconds`, of its wall time; `notebook`, its text.
    """
    text, checks = notebook_of(results, sources)
    verdict = {name: result["entries"] for name, result in results.items()}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="wia-lab-nbval-") as folder:
        here = Path(folder)
        write_atomically(here / NAME, text)
        write_atomically(here / VERDICT, json.dumps(verdict))
        report = here / "junit.xml"
        command = [sys.executable, "-P", "-m", "pytest", "--nbval", "--nbval-current-env", "-q"]
        command += ["--nbval-cell-timeout=60", "--noconftest", "-p", "no:cacheprovider"]
        command += ["-c", os.devnull, f"--rootdir={here}", f"--junitxml={report}", NAME]
        environment = {**os.environ, "IPYTHONDIR": str(here / ".ipython")}
        environment.pop("PYTEST_ADDOPTS", None)
        try:
            subprocess.run(
                command,
                cwd=here,
                env=environment,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
            outcomes = outcomes_of(report.read_bytes())
        except (OSError, subprocess.TimeoutExpired, ET.ParseError):
            outcomes = []
    codes = 1 + len(checks) + len(results)
    ran = len(outcomes) == codes
    confirmed = []
    if ran:
        confirmed = [
            pair
            for pair, good in zip(checks, check_outcomes(outcomes, results), strict=True)
            if good
        ]
    return {
        "ran": ran,
        "confirmed": [list(pair) for pair in confirmed],
        "seconds": round(time.monotonic() - begun, 2),
        "notebook": text,
    }


def outcomes_of(xml: bytes) -> list[bool]:
    """Return, of each code cell in order, whether it passed; from nbval's own report."""
    cases = ET.fromstring(xml).iter("testcase")  # noqa: S314 - pytest wrote it just now
    return [not any(part.tag in {"failure", "error", "skipped"} for part in case) for case in cases]


def check_outcomes(outcomes: list[bool], results: dict[str, Any]) -> list[bool]:
    """Return the outcomes of the check cells alone: the rest is the set-up and an answer each."""
    found, place = [], 1
    for result in results.values():
        place += 1
        found += outcomes[place : place + len(result["entries"])]
        place += len(result["entries"])
    return found
