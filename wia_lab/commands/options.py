"""Options and arguments that several commands take."""

from __future__ import annotations

from pathlib import Path

import click

folder_option = click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    help="The learner's folder. [default: this folder, or my-notebooks in it]",
)
