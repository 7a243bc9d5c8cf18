"""`wia-lab submit`: a learner's answers in one file."""

from __future__ import annotations

from pathlib import Path

import click

from wia_lab.commands.options import NamedPath, folder_option
from wia_lab.errors import CannotRun
from wia_lab.wording import counted
from wia_lab.workbook.folder import find_folder


@click.command()
@folder_option
@click.option(
    "-o",
    "--out",
    type=NamedPath(),
    default=Path("submission.wia-lab.json"),
    help="The file to write. [default: submission.wia-lab.json]",
)
def submit(folder: Path | None, out: Path) -> int:
    """Pack your answers into one file to hand in.

    It holds the answer cells and versions, no outputs. What is missing is listed; you can hand in
    all the same. A grader judges as the checks do, on inputs drawn anew.
    """
    from wia_lab.grading.pack import ENDING, pack

    if not out.name.endswith(ENDING):
        raise CannotRun(f"{out} would not be found by a grader: let its name end in {ENDING}")
    if not out.parent.is_dir():
        raise CannotRun(f"{out.parent} is no folder: name one that exists with -o")
    answers, missing = pack(find_folder(folder), out)
    for sentence in missing:
        click.echo(sentence)
    click.echo(f"{counted(len(answers), 'answer')} in {out}")
    return 0
