"""`wia-lab hint`, `progress` and `reset`: what a learner has seen, solved and begun anew."""

from __future__ import annotations

from pathlib import Path

import click

from wia_lab.commands.options import folder_option
from wia_lab.workbook import catalogue
from wia_lab.workbook import progress as state
from wia_lab.workbook.folder import find_folder, reset_notebook
from wia_lab.workbook.learner import seen_hint


@click.command()
@click.argument("name", metavar="PUZZLE")
@folder_option
def hint(name: str, folder: Path | None) -> None:
    """Print the next hint of PUZZLE.

    Each gives more than the one before.
    """
    puzzle = catalogue.find(name)
    click.echo(seen_hint(puzzle.id, find_folder(folder)))


@click.command()
@folder_option
def progress(folder: Path | None) -> None:
    """List what is solved and how many hints were seen."""
    puzzles = catalogue.all_puzzles()
    known = state.load(find_folder(folder))
    for puzzle in puzzles:
        when = known.solved.get(puzzle.id)
        status = f"solved {when[:10]}" if when else "open"
        seen = known.hints.get(puzzle.id, 0)
        hints = f"{seen} of {len(puzzle.hints)} hints seen" if seen else ""
        click.echo(f"{puzzle.number:02d}  {puzzle.id:<22} {status:<18} {hints}".rstrip())
    solved = sum(puzzle.id in known.solved for puzzle in puzzles)
    click.echo(f"{solved} of {len(puzzles)} solved")


@click.command()
@click.argument("name", metavar="PUZZLE")
@folder_option
def reset(name: str, folder: Path | None) -> None:
    """Begin PUZZLE anew, with a fresh notebook.

    Your old one is kept as NN-id.backup-N.ipynb.
    """
    puzzle = catalogue.find(name)
    folder = find_folder(folder)
    backup = reset_notebook(folder, catalogue.notebook_name(puzzle))
    known = state.load(folder)
    known.forget(puzzle.id)
    state.save(folder, known)
    kept = f"; your old one is {backup}" if backup else ""
    click.echo(f"{folder / catalogue.notebook_name(puzzle)} is fresh{kept}")
