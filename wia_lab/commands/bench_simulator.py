"""`wia-lab bench simulator`: this simulator beside Numba's own, in the same run."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import version
from types import FunctionType

import click

from wia_lab.commands.fresh import told_by
from wia_lab.commands.warming import warm

NAMES = ("vector-add", "halo-convolution", "tiled-matmul-64", "tiled-matmul-128")
LARGE, REFERENCE, FACTOR = "tiled-matmul-256", "tiled-matmul-128", 8
"""256 has eight times the products of 128: Numba's simulator takes minutes for it."""
REPEATS = 3


@click.command()
@click.option("--full", is_flag=True, help="Run 256×256 on Numba's simulator too (minutes).")
def simulator(*, full: bool) -> None:
    """Time launches on this simulator, counting and hazard-checking, and on Numba's own.

    "first" is a kernel not seen before, typing included; "again" the best of three more launches.
    Takes about half a minute, nearly all of it Numba's.
    """
    warm()
    ours = {name: time_ours(name) for name in (*NAMES, LARGE)}
    theirs = time_numba((*NAMES, LARGE) if full else NAMES)
    click.echo(f"{'launch':<20}{'Numba s':>10}{'first s':>10}{'again s':>10}{'ratio':>10}")
    for name, (first, again) in ours.items():
        seconds = theirs.get(name, FACTOR * theirs[REFERENCE])
        mark = "" if name in theirs else "  Numba's time extrapolated: 8 × 128"
        ratio = f"{seconds / again:,.0f}×"
        click.echo(f"{name:<20}{seconds:>10.2f}{first:>10.3f}{again:>10.3f}{ratio:>10}{mark}")
    click.echo(
        f"Numba {version('numba')}, Python {platform.python_version()}, {os.cpu_count()} cores, "
        f"{platform.machine()}; every result compared with NumPy's"
    )


def time_ours(name: str) -> tuple[float, float]:
    """Return the seconds of the first launch of a kernel, and the best of the next three."""
    from wia_lab import simulate
    from wia_lab.commands.bench_kernels import job

    click.echo(f"wia-lab: this simulator runs {name}", err=True)
    seconds = []
    fresh = unseen(job(name).kernel)
    for _ in range(1 + REPEATS):
        work = job(name)
        start = time.perf_counter()
        simulate(fresh, work.grid, work.block, *work.arguments)
        seconds.append(time.perf_counter() - start)
        work.verify()
    return seconds[0], min(seconds[1:])


def unseen(function: FunctionType) -> FunctionType:
    """Return a copy that no cache of compiled kernels can know."""
    code = function.__code__.replace(co_name=f"{function.__name__}_{time.monotonic_ns()}")
    return FunctionType(code, function.__globals__, code.co_name)


def time_numba(names: tuple[str, ...]) -> dict[str, float]:
    """Return the seconds of numba.cuda's own simulator, which only a fresh process can choose."""
    seconds: dict[str, float] = told_by(
        "Numba's own simulator", "bench_kernels", *names, NUMBA_ENABLE_CUDASIM="1"
    )
    return seconds
