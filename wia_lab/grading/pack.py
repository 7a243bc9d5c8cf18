"""A learner's answers in one file: cell ids, sources and versions; no outputs, nothing to run."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from wia_lab import __version__
from wia_lab.errors import CannotRun
from wia_lab.grading.answers import Answer, find_answer
from wia_lab.grading.refusal import refuse
from wia_lab.grading.submission import PACKED, Notebook, Unreadable, parse, read_bytes
from wia_lab.puzzles.host_puzzle import HostPuzzle
from wia_lab.workbook import catalogue
from wia_lab.workbook.files import write_atomically

ENDING = ".wia-lab.json"
PACKAGES = ("numba", "numpy", "nbformat")


def pack(folder: Path, out: Path) -> tuple[list[Answer], list[str]]:
    """Write the answers of a learner's folder to `out`.

    Returns
    -------
    tuple
        The answers packed, and a sentence for each puzzle that has none, is still the stub, or
        would be refused.

    Raises
    ------
    CannotRun
        There is no answer at all.
    """
    found: list[Answer] = []
    missing: list[str] = []
    for puzzle in catalogue.all_puzzles():
        name = catalogue.notebook_name(puzzle)
        try:
            notebook = read(folder / name)
        except Unreadable as error:
            missing.append(f"{puzzle.id}: {error}")
            continue
        answer = None if notebook is None else find_answer([notebook], puzzle)
        if answer is None:
            where = f"{name} is not in {folder}" if notebook is None else f"{name} has no answer"
            missing.append(f"{puzzle.id}: {where}")
            continue
        found.append(answer)
        if trouble := trouble_of(answer, host=isinstance(puzzle, HostPuzzle)):
            missing.append(f"{puzzle.id}: {trouble}")
    if not found:
        raise CannotRun(f"{folder} holds no answer to any puzzle: name the learner's folder")
    write_atomically(out, text_of(found))
    return found, missing


def read(path: Path) -> Notebook | None:
    """Return a notebook; None where there is none."""
    return parse(read_bytes(path), path.name) if path.exists() else None


def trouble_of(answer: Answer, *, host: bool) -> str | None:
    """Return what a grader would say before it runs anything; None where nothing."""
    if "raise NotImplementedError" in answer.source and "YOUR CODE HERE" in answer.source:
        return "still the stub"
    refusal = refuse(answer.source, host=host)
    return None if refusal is None else f"would be refused, as {refusal.text}"


def text_of(answers: list[Answer]) -> str:
    """Return the packed submission's text."""
    content: dict[str, Any] = {
        "format": PACKED,
        "version": 1,
        "packed": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "wia_lab": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        "answers": [
            {"puzzle": a.puzzle, "notebook": a.notebook, "cell": a.cell, "source": a.source}
            for a in answers
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
