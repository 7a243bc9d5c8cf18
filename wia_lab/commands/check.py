"""`wia-lab check`: run the learner's notebooks and say what their checks found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wia_lab.commands.options import folder_option, with_its_folder
from wia_lab.errors import CannotRun, NotebookError
from wia_lab.wording import counted
from wia_lab.workbook import catalogue
from wia_lab.workbook.folder import begin_state, find_folder

if TYPE_CHECKING:
    from wia_lab.workbook.catalogue import AnyPuzzle
    from wia_lab.workbook.runner import Outcome


@click.command()
@click.argument("name", metavar="[PUZZLE]", required=False)
@folder_option
@click.option(
    "--mutants",
    is_flag=True,
    help="For authors, in a clone: judge the known wrong answers (all: 90 s of one core).",
)
def check(name: str | None, folder: Path | None, *, mutants: bool) -> int:
    """Run and judge the answers in your notebooks.

    Without PUZZLE every notebook of the folder. PUZZLE is an id, a number or a notebook:
    tiled-matmul, 6 or 06-tiled-matmul.ipynb. Each takes some seconds.
    """
    if mutants and folder:
        raise click.UsageError("--mutants judges the clone's own answers: leave --dir out")
    if name is None:
        puzzles = catalogue.all_puzzles()
    else:
        puzzle, folder = with_its_folder(name, folder)
        puzzles = [puzzle]
    if mutants:
        return check_known_answers(puzzles)
    folder = find_folder(folder)
    begin_state(folder)
    present = [puzzle for puzzle in puzzles if notebook_of(puzzle, folder).is_file()]
    if not present:
        wanted = catalogue.notebook_name(puzzles[0]) if name else "no puzzle's notebook"
        missing = f"{wanted} is not in {folder}" if name else f"{folder} holds {wanted}"
        raise CannotRun(f"{missing}: run wia-lab start {folder}")
    passed = [check_one(puzzle, folder) for puzzle in present]
    if len(present) > 1:
        click.echo(f"{sum(passed)} of {counted(len(passed), 'puzzle')} solved")
    return 0 if all(passed) else 1


def check_known_answers(puzzles: list[AnyPuzzle]) -> int:
    """Print what the wrong and right answers of tests/mutants get, and each puzzle's kill rate."""
    from wia_lab.puzzles import check_mutants  # brings the simulator

    return 0 if check_mutants(*(puzzle.id for puzzle in puzzles)) else 1


def notebook_of(puzzle: AnyPuzzle, folder: Path) -> Path:
    """Return where the learner's notebook of a puzzle stands."""
    return folder / catalogue.notebook_name(puzzle)


def check_one(puzzle: AnyPuzzle, folder: Path) -> bool:
    """Judge one puzzle's notebook and print the outcome."""
    click.echo(f"wia-lab: running {catalogue.notebook_name(puzzle)}", err=True)
    try:
        outcome = judge(puzzle, folder)
    except NotebookError as error:
        click.echo(f"{puzzle.stem}: not judged\n  {error}")
        return False
    if outcome.passed:
        click.echo(f"{puzzle.stem}: solved\n{indented(outcome.said)}".rstrip())
    else:
        click.echo(f"{puzzle.stem}: not solved\n{indented(outcome.said)}")
    return outcome.passed


def judge(puzzle: AnyPuzzle, folder: Path) -> Outcome:
    """Run one puzzle's notebook in a kernel whose folder is the learner's."""
    from wia_lab.workbook.build import read_notebook  # nbclient and jupyter_client are slow to load
    from wia_lab.workbook.runner import judge_notebook

    path = notebook_of(puzzle, folder)
    try:
        notebook = read_notebook(path)
    except OSError as error:
        raise NotebookError(
            f"{path} cannot be read ({error.strerror}): give yourself the right to read it"
        ) from error
    except NotebookError as error:
        way_out = f"wia-lab reset {puzzle.id} brings a fresh one and keeps this as a backup"
        raise NotebookError(f"{error}: {way_out}") from error
    return judge_notebook(notebook, puzzle.id, folder, path.name)


def indented(text: str) -> str:
    """Return `text` set in by two columns."""
    return "\n".join(f"  {line}" for line in text.splitlines())
