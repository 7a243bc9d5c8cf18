"""`wia-lab bench kernels`: the reference kernels beside copies, cuBLAS and cuDNN."""

from __future__ import annotations

from pathlib import Path

import click

from wia_lab.commands.options import NamedPath
from wia_lab.errors import CannotRun


@click.command()
@click.argument("topics", nargs=-1)
@click.option("--recorded", is_flag=True, help="Print the recorded table only.")
@click.option("--order", is_flag=True, help="Rank the ladders by simulated cost too (10 s).")
@click.option("--out", type=NamedPath(), help="Write this machine's table as CSV.")
def kernels(topics: tuple[str, ...], *, recorded: bool, order: bool, out: Path | None) -> None:
    """Print what the reference kernels of TOPICS (all, if none is named) reached on an H200.

    What the sources claim of memory and of these kernels stands below, beside what was measured.
    Where a GPU, numba-cuda and PyTorch are, run them here too: right answers first, then times;
    that takes minutes.
    """
    from wia_lab.kernels.bench import Options, main, missing

    if out is not None:
        refuse_vain(out, recorded=recorded, missing=missing())
    raise SystemExit(main(Options(topics, recorded, order, out), click.echo))


def refuse_vain(out: Path, *, recorded: bool, missing: str) -> None:
    """Refuse a file for a table that will not be measured, or that could not be written."""
    if recorded:
        raise click.UsageError(f"--recorded measures nothing that {out} could hold: leave one out")
    if missing:
        raise CannotRun(f"there is nothing to write to {out}, as {missing}: leave --out out")
    if not out.parent.is_dir():
        raise CannotRun(f"{out.parent} is no folder: name one that exists with --out")
