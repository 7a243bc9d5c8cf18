"""`wia-lab build`: the learner's notebooks from their sources."""

from __future__ import annotations

from pathlib import Path

import click

from wia_lab.errors import NotebookError
from wia_lab.workbook.places import notebook_paths, solutions_folder


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Write nothing; refuse what has drifted.")
@click.option(
    "--run", "to_run", multiple=True, metavar="NOTEBOOK", help="Run it and store outputs."
)
def build(to_run: tuple[str, ...], *, only_check: bool) -> int:
    """Make notebooks/ from solutions/.

    Both are brought into canonical form. --run 06-tiled-matmul runs that source first, on the
    simulator, and stores what its cells give;
    --run all runs every one, some seconds each.
    """
    from wia_lab.workbook.build import find_drift, mend

    if only_check and to_run:
        raise click.UsageError("--check writes nothing, and --run stores outputs: use one of them")
    solutions = solutions_folder()
    for path in chosen(solutions, to_run):
        run_source(path)
    notebooks = solutions.parent / "notebooks"
    drifts = find_drift(solutions, notebooks)
    written = [] if only_check else mend(drifts)
    for path in written:
        click.echo(f"wrote {path}")
    left = [drift for drift in drifts if only_check or drift.text is None]
    for drift in left:
        click.echo(f"wia-lab: {drift.message}", err=True)
    return 1 if left else 0


def chosen(solutions: Path, names: tuple[str, ...]) -> list[Path]:
    """Return the sources named, all of them for "all"."""
    paths = notebook_paths(solutions)
    if "all" in names:
        return paths
    by_stem = {path.stem: path for path in paths}
    stems = [Path(name).name.removesuffix(".ipynb") for name in names]
    for stem in stems:
        if stem not in by_stem:
            raise click.UsageError(f"there is no {stem}.ipynb in {solutions}")
    return [by_stem[stem] for stem in stems]


def run_source(path: Path) -> None:
    """Run one source on the simulator and store its outputs; a cell that fails is refused."""
    import os

    from wia_lab.workbook import form
    from wia_lab.workbook.build import read_notebook, stored_outputs
    from wia_lab.workbook.files import write_atomically
    from wia_lab.workbook.runner import run_notebook

    click.echo(f"wia-lab: running {path}", err=True)
    os.environ["WIA_LAB_BACKEND"] = "simulator"
    notebook = read_notebook(path)
    run_notebook(notebook, path.parent, path.name)
    own = form.canonical(notebook, outputs=True)
    if failed := stored_outputs(path, own):
        raise NotebookError("; ".join(drift.message for drift in failed))
    write_atomically(path, form.text_of(own))
