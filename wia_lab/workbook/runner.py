"""Runs a notebook in a kernel of this environment and reads what its cells said."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from wia_lab.errors import CannotRun, NotebookError
from wia_lab.workbook.form import checked_puzzles

SECONDS_A_CELL = 120
SECONDS_TO_START = 120
CELL_FILE = re.compile(r" \(\d+\.py, line \d+\)$")
CELL_LINE = re.compile(r"Cell In\[(\d+)\], line (\d+)")
RAISED_BY = re.compile(r"^raised by line (\d+): (.*)$", re.MULTILINE)  # wia_lab's own errors
ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Outcome:
    """What one check cell said: `said` is its line when it passed, else the diagnosis."""

    puzzle_id: str
    passed: bool
    said: str


def native_kernel() -> Any:
    """Return a manager of this environment's own kernel.

    A kernel specification of the same name in the user's home would win otherwise, and may belong
    to another environment.
    """
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    specs = KernelSpecManager(kernel_dirs=[])
    return AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs)


def run_notebook(notebook: NotebookNode, folder: Path, name: str) -> None:
    """Run every cell in order and store its outputs in `notebook`; errors are outputs too.

    Parameters
    ----------
    notebook : NotebookNode
        Changed in place.
    folder : Path
        The kernel's current folder.
    name : str
        The file's name, for messages.

    Raises
    ------
    NotebookError
        A cell that ran too long or killed its kernel.
    CannotRun
        No kernel could be started.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    # Both log a death that is told below in one sentence
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    client = NotebookClient(
        notebook,
        km=native_kernel(),
        timeout=SECONDS_A_CELL,
        allow_errors=True,
        startup_timeout=SECONDS_TO_START,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute(cleanup_kc=True)  # nbclient leaves a manager that it was given running
    except CellTimeoutError as error:
        raise NotebookError(
            f"{name}: a cell ran for more than {SECONDS_A_CELL} s and was stopped: "
            "look for a loop that never ends"
        ) from error
    except DeadKernelError as error:
        raise NotebookError(f"{name}: a cell ended its own kernel: run it in JupyterLab") from error
    except (OSError, RuntimeError) as error:
        raise CannotRun(f"no Jupyter kernel could be started here ({error})") from error


def up_to_checks(notebook: NotebookNode, puzzle_id: str) -> NotebookNode:
    """Return the notebook up to the last cell that checks `puzzle_id`; without one, no cells."""
    last = max(
        (n for n, cell in enumerate(notebook.cells) if puzzle_id in checked_puzzles(cell)),
        default=-1,
    )
    return nbformat.from_dict({**notebook, "cells": notebook.cells[: last + 1]})


def judge_notebook(notebook: NotebookNode, puzzle_id: str, folder: Path, name: str) -> Outcome:
    """Run a learner's notebook and return what its check of `puzzle_id` said.

    Raises
    ------
    NotebookError
        The notebook has no such check any more, or could not be run to its end.
    """
    part = up_to_checks(notebook, puzzle_id)
    if not part.cells:
        raise NotebookError(
            f'{name} has no cell that starts with check("{puzzle_id}", …): '
            f"wia-lab reset {puzzle_id} brings a fresh notebook and keeps yours as a backup"
        )
    run_notebook(part, folder, name)
    check_cell = part.cells[-1]
    failure = error_of(check_cell)
    if failure is None:
        return Outcome(puzzle_id, passed=True, said=printed(check_cell).strip())
    if failure.ename == "CheckFailed":  # the diagnosis has the line
        return Outcome(puzzle_id, passed=False, said=text_of(failure))
    failed = next(cell for cell in part.cells if error_of(cell))
    failure = error_of(failed) or failure
    said = f"{place_of(failure, part)}: {failure.ename}: {text_of(failure)}"
    if failed is check_cell and "name 'check' is" not in said and failure.ename == "NameError":
        said += ": your answer keeps the name it was given, and its cell stands above the check"
    return Outcome(puzzle_id, passed=False, said=said)


def error_of(cell: NotebookNode) -> NotebookNode | None:
    """Return the error that ended a cell, None if it ended well."""
    outputs = cell.get("outputs", [])
    return next((out for out in outputs if out.output_type == "error"), None)


def text_of(failure: NotebookNode) -> str:
    """Return what an error says; of the file that a kernel makes of a cell, nothing."""
    return CELL_FILE.sub("", ANSI.sub("", failure.evalue)).strip()


def place_of(failure: NotebookNode, notebook: NotebookNode) -> str:
    """Return the cell and the line that raised an error, as a person finds them."""
    told = ANSI.sub("", "\n".join(failure.traceback))
    places = CELL_LINE.findall(told)
    cells = {str(cell.get("execution_count")): cell for cell in notebook.cells}
    number, line = places[-1] if places else ("", "")
    cell = cells.get(number)
    if cell is None and (raised := RAISED_BY.search(told)):
        cell, line = cell_with(notebook, int(raised[1]), raised[2]), raised[1]
    if cell is None:
        return "a cell"
    if cell.metadata.get("nbgrader", {}).get("solution"):
        return f"the answer cell, line {line}"
    first = cell.source.strip().partition("\n")[0]
    return f"the cell that begins with `{first}`, line {line}"


def cell_with(notebook: NotebookNode, number: int, text: str) -> NotebookNode | None:
    """Return the cell with this line; wia_lab's own errors tell no more of where they came from."""
    for cell in notebook.cells:
        lines = cell.source.splitlines()
        if cell.cell_type == "code" and len(lines) >= number and lines[number - 1].strip() == text:
            return cell
    return None


def printed(cell: NotebookNode) -> str:
    """Return what a cell printed on stdout."""
    streams = (out for out in cell.outputs if out.output_type == "stream" and out.name == "stdout")
    return "".join(stream.text for stream in streams)
