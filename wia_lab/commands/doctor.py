"""`wia-lab doctor`: which back end runs kernels here, why, and what would change that."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click

import wia_lab
from wia_lab.commands import warming
from wia_lab.workbook.places import PACKAGE, checkout, notebook_paths, notebooks_folder

PACKAGES = ("numba", "numpy", "jupyterlab", "ipywidgets", "matplotlib", "nbval", "numba-cuda")


@click.command()
@click.option(
    "--warm", is_flag=True, help="Compile what the simulator needs, once for all (about 10 s)."
)
@click.option("--quiet", is_flag=True, help="Say nothing when all is well.")
def doctor(*, warm: bool, quiet: bool) -> None:
    """Say which back end runs kernels here, and why.

    Also which versions are installed, what is compiled already, and what to install.
    """
    from wia_lab import cuda

    choice = cuda.describe_backend()
    if warm:
        warming.warm()
    if quiet:
        return
    click.echo(row("back end", f"{choice.backend}: {choice.reason}"))
    if choice.advice:
        click.echo(row("", choice.advice))
    click.echo(row("python", f"{platform.python_version()} in {sys.prefix}"))
    click.echo(row("system", f"{platform.system()} {platform.machine()}"))
    click.echo(row("packages", ", ".join(installed(name) for name in PACKAGES)))
    click.echo(row("helpers", helpers()))
    click.echo(row("wia_lab", f"{wia_lab.__version__} in {PACKAGE} ({origin()})"))
    click.echo(row("notebooks", f"{len(notebook_paths(notebooks_folder()))} to start from"))


def row(title: str, text: str) -> str:
    """Return one line of the report."""
    return f"{title:<11}{text}"


def installed(package: str) -> str:
    """Return a package's name and version."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def helpers() -> str:
    """Return how many of the simulator's compiled helpers wait in the cache, and where."""
    from wia_lab.simt import compiled

    stored, wanted = warming.helpers()
    advice = "" if stored >= wanted else "; wia-lab doctor --warm compiles the rest"
    return f"{stored} of {wanted} compiled in {compiled.cache_folder()}{advice}"


def origin() -> str:
    """Return whether the package runs from a clone or from a wheel."""
    return "a clone" if checkout() else "a wheel"
