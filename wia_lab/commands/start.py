"""`wia-lab start`: the learner's folder, opened in JupyterLab."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from wia_lab.commands.options import NamedPath
from wia_lab.commands.warming import warm
from wia_lab.errors import CannotRun
from wia_lab.workbook.folder import open_folder
from wia_lab.workbook.places import DEFAULT_FOLDER, START


@click.command()
@click.argument("folder", metavar="[DIR]", type=NamedPath(), default=DEFAULT_FOLDER)
@click.option("--no-browser", is_flag=True, help="Print JupyterLab's address, open nothing.")
@click.option(
    "--no-lab", is_flag=True, help="Only copy the notebooks (JupyterHub, Colab, VS Code)."
)
@click.option("--port", type=click.IntRange(1, 65535), help="JupyterLab's port. [default: 8888 on]")
def start(folder: Path, port: int | None, *, no_browser: bool, no_lab: bool) -> int:
    """Open the workbook in JupyterLab.

    DIR, my-notebooks unless you name another, is made where it is missing. Notebooks that DIR
    lacks are copied into it; what is there is never overwritten.
    """
    copied = open_folder(folder)
    already = "all there already" if not copied else f"{len(copied)} copied"
    click.echo(f"wia-lab: notebooks in {folder} ({already})", err=True)
    warm()
    if no_lab:
        click.echo(folder / START)
        return 0
    return open_lab(lab_command(port, no_browser=no_browser), folder)


def lab_command(port: int | None, *, no_browser: bool) -> list[str]:
    """Return the command that opens JupyterLab on the first notebook, in this environment."""
    if find_spec("jupyterlab") is None:
        raise CannotRun("JupyterLab is not installed here: python -m pip install jupyterlab")
    # As the default page it is opened, and it is in the address that Jupyter prints
    first_page = f"--LabApp.default_url=/lab/tree/{START}"
    command = [sys.executable, "-m", "jupyterlab", first_page]
    if port is not None:
        refuse_busy(port)
        command += [f"--port={port}", "--ServerApp.port_retries=0"]
    command.append("--LabApp.news_url=None")  # its pop-up would lie over the first page
    if no_browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # containers and CI; Jupyter refuses root otherwise
    return command


def refuse_busy(port: int) -> None:
    """Raise CannotRun when something listens on `port` already."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CannotRun(
                f"port {port} cannot be used ({error.strerror}): name another with --port"
            ) from error


def open_lab(command: list[str], folder: Path) -> int:
    """Run JupyterLab in `folder` until it is stopped."""
    try:
        code = subprocess.run(command, cwd=folder, check=False).returncode
    except KeyboardInterrupt:
        return 0  # Ctrl-C is how JupyterLab is stopped; it hears it too
    if code:
        raise CannotRun(f"JupyterLab ended with exit code {code}: its last lines say why")
    return 0
