"""Compiling the simulator's helpers once, so that the first check of a learner does not wait."""

from __future__ import annotations

import click


def warm() -> None:
    """Compile and store the helpers that are not stored yet, and say what takes the time."""
    from wia_lab.simt import compiled

    stored, wanted = helpers()
    if stored >= wanted:
        return
    click.echo("wia-lab: compiling the simulator's helpers, once for all (about 10 s)", err=True)
    if compiled.warm() is None:
        click.echo(
            f"wia-lab: {compiled.cache_folder()} cannot be written, so every process compiles "
            "them anew: make it writable, or set XDG_CACHE_HOME to a folder that is",
            err=True,
        )


def helpers() -> tuple[int, int]:
    """Return how many compiled helpers are stored, and how many there are."""
    from wia_lab.simt import compiled

    wanted = sum(len(signatures) for _, signatures in compiled.HELPERS.values())
    stored = len(list(compiled.cache_folder().glob(f"{compiled.source_stamp()}-*")))
    return stored, wanted
