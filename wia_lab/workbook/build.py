"""solutions/ → notebooks/: the learner's notebooks are made, never edited.

In an answer cell, what stands between `### BEGIN SOLUTION` and `### END SOLUTION` is replaced by
nbgrader's own stub, `# YOUR CODE HERE` and `raise NotImplementedError`, which every check refuses.
Lines of the region that start with `# STUB:` are what the learner is given before it:

    @cuda.jit
    def double(out, a):
        ### BEGIN SOLUTION
        # STUB: i = cuda.grid(1)
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 2 * a[i]
        ### END SOLUTION
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning

from wia_lab.errors import NotebookError
from wia_lab.workbook import form
from wia_lab.workbook.files import write_atomically
from wia_lab.workbook.places import notebook_paths

GIVEN = "# STUB:"
STUB = ("# YOUR CODE HERE", "raise NotImplementedError")


@dataclass(frozen=True)
class Drift:
    """One file that is not what the sources say, and the sentence that tells so."""

    path: Path
    message: str
    text: str | None = None  # what should stand there; None where only the author can mend it


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook of format 4; NotebookError names the file and what is wrong with it."""
    try:
        with warnings.catch_warnings():
            # A cell pasted twice, or written by an old Jupyter, gets its own name in form.py
            for category in (DuplicateCellId, MissingIDFieldWarning):
                warnings.simplefilter("ignore", category)
            text = path.read_text(encoding="utf-8-sig")
            json.loads(text)  # says the line, where nbformat shows the text
            notebook = nbformat.reads(text, as_version=4)
            nbformat.validate(notebook)
    except (ValueError, nbformat.ValidationError, AttributeError) as error:
        is_code = isinstance(error, AttributeError)  # nbformat's, of JSON that is no object
        reason = "its JSON is no object" if is_code else str(error).strip().splitlines()[0]
        raise NotebookError(f"{path} is not a notebook that Jupyter can read ({reason})") from error
    return notebook


def with_stubs(source: str, where: str) -> str:
    """Return a cell's source with every answer replaced by its stub.

    Raises
    ------
    NotebookError
        A mark without its partner; `where` names the file and the cell.
    """
    kept: list[str] = []
    region: list[str] | None = None
    for number, line in enumerate(source.splitlines(), start=1):
        mark = line.strip()
        if mark == form.BEGIN and region is None:
            region = [line]
        elif mark == form.END and region is not None:
            kept += stub_of(region)
            region = None
        elif mark in {form.BEGIN, form.END}:
            raise NotebookError(f"{where}, line {number}: {mark!r} without its partner")
        elif region is None:
            kept.append(line)
        else:
            region.append(line)
    if region is not None:
        raise NotebookError(f"{where}: {form.BEGIN!r} without {form.END!r}")
    return "\n".join(kept)


def stub_of(region: list[str]) -> list[str]:
    """Return the stub's lines for a region, the mark that opens it first."""
    opening, *lines = region
    indent = opening[: len(opening) - len(opening.lstrip())]
    stripped = [line.strip() for line in lines]
    given = [line.removeprefix(GIVEN)[1:] for line in stripped if line.startswith(GIVEN)]
    return [f"{indent}{line}".rstrip() for line in (*given, *STUB)]


def learner_notebook(solution: NotebookNode, name: str) -> NotebookNode:
    """Return the notebook that a learner gets, made from its source."""
    notebook = form.canonical(solution, outputs=False)
    for cell in notebook.cells:
        if form.is_answer(cell):
            cell.source = with_stubs(cell.source, f"{name}, cell {cell.id}")
    return notebook


def find_drift(solutions: Path, notebooks: Path) -> list[Drift]:
    """Compare both folders with what the sources say; nothing is written."""
    found: list[Drift] = []
    sources = notebook_paths(solutions)
    for path in sources:
        solution = read_notebook(path)
        own = form.canonical(solution, outputs=True)
        relative = path.relative_to(solutions)
        found += compare(path, form.text_of(own), "is not in canonical form")
        found += stored_outputs(path, own)
        learner = form.text_of(learner_notebook(own, relative.as_posix()))
        found += compare(notebooks / relative, learner, f"differs from what {path} gives")
    expected = {path.relative_to(solutions) for path in sources}
    for path in notebook_paths(notebooks):
        if path.relative_to(notebooks) not in expected:
            found.append(Drift(path, f"{path} has no source in {solutions}: remove it"))
    return found


def compare(path: Path, text: str, how: str) -> list[Drift]:
    """Return a drift if `path` does not hold `text`."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return []
    how = how if path.exists() else "is missing"
    return [Drift(path, f"{path} {how}: run wia-lab build", text)]


def stored_outputs(path: Path, solution: NotebookNode) -> list[Drift]:
    """Return what nbval would not compare, or would compare with a failure."""
    found = []
    for cell in solution.cells:
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        errors = [
            f"{out.ename}: {out.evalue}" for out in cell.outputs if out.output_type == "error"
        ]
        if cell.execution_count is None:
            message = f"{path}, cell {cell.id} was never run: run wia-lab build --run {path.stem}"
            found.append(Drift(path, message))
        elif errors and "raises-exception" not in cell.metadata.get("tags", []):
            message = f"{path}, cell {cell.id} ended with {errors[0]}: mend it and run it again"
            found.append(Drift(path, message))
    return found


def mend(drifts: list[Drift]) -> list[Path]:
    """Write every file whose text is known; return their paths."""
    mended = []
    for drift in drifts:
        if drift.text is not None:
            drift.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(drift.path, drift.text)
            mended.append(drift.path)
    return mended
