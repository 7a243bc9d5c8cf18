"""`wia-lab puzzles`, `hint`, `progress`, `reset`: what there is, what was seen, solved, undone."""

from __future__ import annotations

from pathlib import Path

import click

from wia_lab.commands.options import folder_option, with_its_folder
from wia_lab.workbook import catalogue
from wia_lab.workbook import progress as state
from wia_lab.workbook.folder import begin_state, find_folder, reset_notebook
from wia_lab.workbook.learner import seen_hint


@click.command()
def puzzles() -> None:
    """List the puzzles and what each teaches."""
    for puzzle in catalogue.all_puzzles():
        click.echo(f"{puzzle.number:02d}  {puzzle.id:<20} {puzzle.teaches}")


@click.command()
@click.argument("name", metavar="PUZZLE")
@folder_option
def hint(name: str, folder: Path | None) -> None:
    """Print the next hint of PUZZLE.

    Each gives more than the one before.
    """
    puzzle, folder = with_its_folder(name, folder)
    folder = find_folder(folder)
    begin_state(folder)
    click.echo(seen_hint(puzzle.id, folder))


@click.command()
@folder_option
def progress(folder: Path | None) -> None:
    """List what is solved and how many hints were seen."""
    folder = find_folder(folder)
    begin_state(folder)
    known = state.load(folder)
    every = catalogue.all_puzzles()
    for puzzle in every:
        when = known.solved.get(puzzle.id)
        status = f"solved {when[:10]}" if when else "open"
        seen = known.hints.get(puzzle.id, 0)
        hints = f"{seen} of {len(puzzle.hints)} hints seen" if seen else ""
        click.echo(f"{puzzle.number:02d}  {puzzle.id:<22} {status:<18} {hints}".rstrip())
    solved = sum(puzzle.id in known.solved for puzzle in every)
    click.echo(f"{solved} of {len(every)} solved")


@click.command()
@click.argument("name", metavar="PUZZLE")
@folder_option
def reset(name: str, folder: Path | None) -> None:
    """Begin PUZZLE anew, with a fresh notebook.

    Your old one is kept as NN-id.backup-N.ipynb.
    """
    puzzle, folder = with_its_folder(name, folder)
    folder = find_folder(folder)
    backup = reset_notebook(folder, catalogue.notebook_name(puzzle))
    known = state.load(folder)
    known.forget(puzzle.id)
    state.remember(folder, known)
    kept = f"; your old one is {backup}" if backup else ""
    click.echo(f"{folder / catalogue.notebook_name(puzzle)} is fresh{kept}")
