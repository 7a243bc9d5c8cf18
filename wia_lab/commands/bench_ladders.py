"""`wia-lab bench kernels`: the reference kernels beside copies, cuBLAS and cuDNN."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("topics", nargs=-1)
@click.option("--recorded", is_flag=True, help="Print the recorded table only.")
@click.option("--order", is_flag=True, help="Rank the ladders by simulated cost too (a minute).")
@click.option("--out", type=click.Path(path_type=Path), help="Write this machine's table as CSV.")
def kernels(topics: tuple[str, ...], *, recorded: bool, order: bool, out: Path | None) -> None:
    """Print what the reference kernels of TOPICS (all, if none is named) reached on an H200.

    What the sources claim of memory and of these kernels stands below, beside what was measured.
    Where a GPU, numba-cuda and PyTorch are, run them here too: right answers first, then times.
    """
    from wia_lab.kernels.bench import Options, main

    raise SystemExit(main(Options(topics, recorded, order, out), click.echo))
