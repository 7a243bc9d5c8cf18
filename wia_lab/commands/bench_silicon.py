"""`wia-lab bench silicon`: the simulator's counters beside those recorded on hardware."""

from __future__ import annotations

import click

from wia_lab.commands.options import unknown


@click.command()
@click.argument("kernels", nargs=-1)
def silicon(kernels: tuple[str, ...]) -> None:
    """Count the suite's KERNELS (all, if none is named) and print each counter beside an H200's.

    Takes a few seconds. `python -m wia_lab.kernels.silicon.record OUT.csv` records the table anew
    on a GPU.
    """
    from wia_lab.kernels.silicon.suite import CASES
    from wia_lab.kernels.silicon.table import render

    for name in kernels:
        if name not in CASES:
            listing = "wia-lab bench silicon without a name prints all"
            raise click.UsageError(unknown("kernel", name, CASES, listing))
    click.echo(render(list(kernels) or None))
