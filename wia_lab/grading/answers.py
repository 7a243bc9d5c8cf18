"""Answer cells: by id, or by what they define where ids were lost; and what looks odd."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wia_lab.grading.layouts import copy_of
from wia_lab.grading.refusal import Refused, parse
from wia_lab.grading.verdicts import official_cells

if TYPE_CHECKING:
    from wia_lab.grading.submission import Cell, Notebook
    from wia_lab.workbook.catalogue import AnyPuzzle

ANSWER = "answer"
MARKERS = re.compile(r"NBVAL_\w+|raises-exception|skip-execution|otter_ignore|nbval-[\w-]+")
MAGIC = re.compile(r"^[ \t]*[%!]", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """What a student wrote for one puzzle."""

    puzzle: str
    source: str
    notebook: str
    cell: str | None
    notes: tuple[str, ...] = ()
    attempts: int = 1


def defines(source: str, name: str) -> bool:
    """Whether a cell's source defines `name` at its top level; it need not be valid Python."""
    if name not in source:
        return False
    try:
        tree = parse(source)
    except Refused:
        return re.search(rf"^(def|class)\s+{re.escape(name)}\b", source, re.MULTILINE) is not None
    return any(
        isinstance(each, (ast.FunctionDef, ast.ClassDef)) and each.name == name
        for each in tree.body
    )


def find_answer(notebooks: list[Notebook], puzzle: AnyPuzzle) -> Answer | None:
    """Return the answer to a puzzle: of several files the latest, of several cells the last."""
    found = [
        (notebook, answer)
        for notebook in sorted(notebooks, key=lambda each: each.order)
        if (answer := in_notebook(notebook, puzzle)) is not None
    ]
    if not found:
        return None
    notebook, answer = found[-1]
    notes = answer.notes
    if len(found) > 1:
        others = ", ".join(sorted({other.name for other, _ in found[:-1]}))
        notes += (f"{len(found)} files answer {puzzle.id}: {notebook.name} counts, not {others}",)
    return Answer(puzzle.id, answer.source, notebook.name, answer.cell, notes, attempts=len(found))


def in_notebook(notebook: Notebook, puzzle: AnyPuzzle) -> Answer | None:
    """Return a notebook's answer to a puzzle; None where it has none."""
    code = [cell for cell in notebook.cells if cell.kind == "code"]
    defining = [cell for cell in code if defines(cell.source, puzzle.function)]
    named = [cell for cell in defining if ANSWER in {cell.id, cell.grade_id}]
    own = copy_of(notebook.name.removesuffix(".ipynb"))[0].endswith(puzzle.stem)
    notes: list[str] = list(notebook.notes)
    if named:
        chosen = named[-1]
    elif defining:
        chosen = defining[-1]
        if not (own or puzzle.id == chosen.id):
            notes.append(f"{puzzle.function} was found by its definition in {notebook.name}")
        elif chosen.id != puzzle.id:
            notes.append(f"the answer cell of {puzzle.id} was found by its definition")
    else:
        placed = [cell for cell in code if ANSWER in {cell.id, cell.grade_id}]
        if not (own and placed):
            return None
        chosen = placed[-1]
    if len(named or defining) > 1:
        notes.append(
            f"{puzzle.function} is defined in {len(named or defining)} cells: the last counts"
        )
    notes += odd(notebook, puzzle) if own else []
    return Answer(puzzle.id, chosen.source, notebook.name, chosen.id, tuple(notes))


def odd(notebook: Notebook, puzzle: AnyPuzzle) -> list[str]:
    """Return what a person may want to know of a notebook; none of it has any effect."""
    official = official_cells(puzzle.stem)
    checks = {name: source for name, source in official.items() if name.startswith("check-")}
    by_id: dict[str | None, list[Cell]] = {}
    for cell in notebook.cells:
        by_id.setdefault(cell.id or cell.grade_id, []).append(cell)
    said = []
    for name, source in checks.items():
        cells = by_id.get(name, [])
        if not cells:
            said.append(f"check cell {name} is missing")
        elif any(cell.kind != "code" for cell in cells):
            said.append(f"check cell {name} was turned into {cells[0].kind}")
        elif any(cell.source.strip() != source.strip() for cell in cells):
            said.append(f"check cell {name} was edited")
    twice = [
        str(n) for n, count in Counter(c.id for c in notebook.cells if c.id).items() if count > 1
    ]
    if twice:
        said.append(f"cell ids stand twice: {', '.join(sorted(twice)[:5])}")
    markers = {
        marker
        for cell in notebook.cells
        for marker in MARKERS.findall(" ".join((*cell.tags, cell.source)))
    }
    ours = {m for source in official.values() for m in MARKERS.findall(source)} | {
        "nbval-ignore-output"
    }
    if strange := sorted(markers - ours):
        said.append(f"markers for test runners, without effect here: {', '.join(strange)}")
    if any(cell.kind == "code" and MAGIC.search(cell.source) for cell in notebook.cells):
        said.append("cells with magics or shell commands")
    return said
