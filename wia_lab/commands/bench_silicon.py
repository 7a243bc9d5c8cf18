"""`wia-lab bench silicon`: the simulator's counters beside those recorded on hardware."""

from __future__ import annotations

import click

from wia_lab.errors import WiaLabError


class UnknownKernel(WiaLabError):
    """A kernel that the suite does not hold."""

    exit_code = 2


@click.command()
@click.argument("kernels", nargs=-1)
def silicon(kernels: tuple[str, ...]) -> None:
    """Count the suite's KERNELS (all, if none is named) and print each counter beside an H200's.

    `python -m wia_lab.kernels.silicon.record OUT.csv` records the table anew on a GPU.
    """
    from wia_lab.kernels.silicon.suite import CASES
    from wia_lab.kernels.silicon.table import render

    unknown = [name for name in kernels if name not in CASES]
    if unknown:
        raise UnknownKernel(
            f"the suite has no kernel called {', '.join(unknown)}: choose from {', '.join(CASES)}"
        )
    click.echo(render(list(kernels) or None))
