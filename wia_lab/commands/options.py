"""Options and arguments that several commands take."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click


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


def with_its_folder(name: str, folder: Path | None) -> tuple[str, Path | None]:
    """Return a puzzle's name and the learner's folder, both from a notebook's path if it is one."""
    path = Path(name)
    if folder is None and len(path.parts) > 1 and path.is_file():
        return path.name, path.parent
    return name, folder


def unknown(kind: str, name: str, known: Collection[str], listing: str) -> str:
    """Return the sentence for a name that is none of `known`; `listing` says how they are told."""
    near = difflib.get_close_matches(name, known, n=2)
    way_out = f"did you mean {' or '.join(near)}?" if near else listing
    return f"there is no {kind} {name!r}: {way_out}"
