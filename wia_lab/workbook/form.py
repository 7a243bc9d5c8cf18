"""The one canonical form of a notebook, so that a change in git is a change that somebody made.

nbformat 4.5 as `nbformat.writes` gives it; metadata by allow-list; named cell ids; nbgrader's
metadata (schema 3) derived from what a cell is:

- an *answer* cell holds a region between `### BEGIN SOLUTION` and `### END SOLUTION`;
- a *check* cell calls `check(...)` at the start of a line; it is worth `points`, 1 unless it says.
"""

from __future__ import annotations

import re
from typing import Any

import nbformat
from nbformat import NotebookNode

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
NEVER_COMPARED = "nbval-ignore-output"
"""Tag of a cell whose output depends on the machine, as what hardware says does."""

CHECK_CALL = re.compile(r"^check\(\s*['\"]([\w-]+)['\"]", re.MULTILINE)
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def is_answer(cell: NotebookNode) -> bool:
    """Tell whether a cell holds what the learner is to write."""
    return cell.cell_type == "code" and BEGIN in cell.source


def checked_puzzles(cell: NotebookNode) -> list[str]:
    """Return the ids of the puzzles that a cell checks."""
    return CHECK_CALL.findall(cell.source) if cell.cell_type == "code" else []


def canonical(notebook: NotebookNode, *, outputs: bool) -> NotebookNode:
    """Return a copy of `notebook` in canonical form, with its outputs or cleared of them."""
    names: set[str] = set()
    cells = []
    for number, cell in enumerate(notebook.cells):
        name = cell_name(cell, number, names)
        names.add(name)
        cells.append(canonical_cell(cell, name))
    if outputs:
        number_executions(cells)
    else:
        clear_outputs(cells)
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return nbformat.from_dict(
        {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    )


def text_of(notebook: NotebookNode) -> str:
    """Return the file's text of a notebook that is in canonical form."""
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


def cell_name(cell: NotebookNode, number: int, taken: set[str]) -> str:
    """Return the cell's id; one that JupyterLab drew at random becomes a name."""
    given = str(cell.get("id", ""))
    if given and not RANDOM_ID.fullmatch(given) and given not in taken:
        return given
    name = stem = descriptive_name(cell, number)
    repeat = 2
    while name in taken:
        name, repeat = f"{stem}-{repeat}", repeat + 1
    return name


def descriptive_name(cell: NotebookNode, number: int) -> str:
    """Return a name after the cell's role, its heading or its place."""
    if is_answer(cell):
        return "answer"
    if checked := checked_puzzles(cell):
        return f"check-{checked[0]}"
    heading = re.match(r"#+\s+(.+)", cell.source) if cell.cell_type == "markdown" else None
    if heading and (slug := re.sub(r"[^a-z0-9]+", "-", heading[1].lower()).strip("-")):
        return slug[:40].strip("-")
    return f"{cell.cell_type}-{number}"


def canonical_cell(cell: NotebookNode, name: str) -> dict[str, Any]:
    """Return one cell with the metadata that it should have and no other."""
    kept: dict[str, Any] = {
        "cell_type": cell.cell_type,
        "id": name,
        "metadata": cell_metadata(cell, name),
        "source": cell.source,
    }
    if cell.cell_type == "code":
        kept["execution_count"] = cell.get("execution_count")
        kept["outputs"] = [canonical_output(output) for output in cell.get("outputs", [])]
    elif "attachments" in cell:
        kept["attachments"] = cell.attachments
    return kept


def cell_metadata(cell: NotebookNode, name: str) -> dict[str, Any]:
    """Return tags and nbgrader's record, if there are any."""
    metadata: dict[str, Any] = {}
    before = cell.metadata.get("nbgrader", {})
    if tags := cell.metadata.get("tags"):
        metadata["tags"] = list(tags)
    if is_answer(cell) or before.get("solution"):
        metadata["nbgrader"] = nbgrader_record(name, solution=True)
    elif checked_puzzles(cell):
        points = before.get("points", 1)
        metadata["nbgrader"] = {**nbgrader_record(name, solution=False), "points": points}
    return metadata


def nbgrader_record(name: str, *, solution: bool) -> dict[str, Any]:
    """Return nbgrader's metadata, schema 3, of an answer (`solution`) or of a check."""
    return {
        "grade": not solution,
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }


def canonical_output(output: NotebookNode) -> dict[str, Any]:
    """Return one output without the front end's metadata."""
    kept = dict(output)
    if "metadata" in kept:
        kept["metadata"] = {}
    return kept


def number_executions(cells: list[dict[str, Any]]) -> None:
    """Count the cells that were run from 1, as a fresh kernel does."""
    count = 0
    for cell in cells:
        if cell["cell_type"] != "code" or cell["execution_count"] is None:
            continue
        count += 1
        cell["execution_count"] = count
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count


def clear_outputs(cells: list[dict[str, Any]]) -> None:
    """Leave the cells as nobody has run them."""
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["execution_count"], cell["outputs"] = None, []
