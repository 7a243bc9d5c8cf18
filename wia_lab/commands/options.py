"""Options and arguments that several commands take."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wia_lab.errors import WiaLabError
from wia_lab.workbook import catalogue

if TYPE_CHECKING:
    from wia_lab.workbook.catalogue import AnyPuzzle


class NamedPath(click.Path):
    """A file or a folder by its name; an empty one, as from an unset variable, is refused."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; UsageError for an empty name, which would mean this folder."""
        if value == "":
            self.fail("the name is empty: write . for this folder", param, ctx)
        return super().convert(value, param, ctx)


folder_option = click.option(
    "--dir",
    "folder",
    type=NamedPath(),
    help="The learner's folder. [default: this folder, or my-notebooks in it]",
)


def with_its_folder(name: str, folder: Path | None) -> tuple[AnyPuzzle, Path | None]:
    """Return the puzzle that is named and the learner's folder, both from a notebook's path.

    Raises
    ------
    UnknownPuzzleError
        There is no such puzzle.
    click.UsageError
        The name is a folder's, or a path beside a --dir.
    """
    path = Path(name)
    if len(path.parts) > 1 and path.is_file():
        if folder is not None:
            raise click.UsageError(f"{name} says its folder itself: leave --dir out")
        return catalogue.find(path.name), path.parent
    try:
        return catalogue.find(name), folder
    except WiaLabError:
        if name and path.is_dir():
            raise click.UsageError(f"{name} is a folder, no puzzle: try --dir {name}") from None
        raise


def unknown(kind: str, name: str, known: Collection[str], listing: str) -> str:
    """Return the sentence for a name that is none of `known`; `listing` says how they are told."""
    near = difflib.get_close_matches(name, known, n=2)
    way_out = f"did you mean {' or '.join(near)}?" if near else listing
    return f"there is no {kind} {name!r}: {way_out}"
