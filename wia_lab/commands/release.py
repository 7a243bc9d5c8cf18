"""`wia-lab release`: notebooks for a class, with the points they are worth."""

from __future__ import annotations

from pathlib import Path

import click

from wia_lab.commands.options import NamedPath
from wia_lab.wording import counted
from wia_lab.workbook import catalogue


@click.command()
@click.argument("folder", metavar="DIR", type=NamedPath())
@click.option("--puzzle", "names", multiple=True, help="Release this puzzle only; may be repeated.")
@click.option("--nbgrader", is_flag=True, help="Also a course folder for nbgrader. Needs a clone.")
def release(folder: Path, names: tuple[str, ...], *, nbgrader: bool) -> int:
    """Write a class's notebooks and grading.toml to DIR.

    DIR/notebooks goes to the students; DIR/grading.toml, which you may edit, to wia-lab grade
    --course.
    """
    from wia_lab.grading import release as releasing

    wanted = {catalogue.find(name).id for name in names}
    puzzles = [p for p in catalogue.all_puzzles() if not wanted or p.id in wanted]
    written = releasing.release(folder, puzzles, nbgrader=nbgrader)
    notebooks = [path for path in written if path.parts[0] == "notebooks"]
    told = counted(len(notebooks), "notebook")
    click.echo(f"{told} in {folder / 'notebooks'}, {folder / releasing.COURSE}")
    if nbgrader:
        click.echo(
            f"nbgrader's course: {folder} (nbgrader generate_assignment {releasing.ASSIGNMENT})"
        )
    return 0
