"""`wia-lab bench hal`: what a pipeline over eight virtual devices costs the machine it runs on.

Run as `python -m wia_lab.commands.bench_hal N`, it runs one pipeline and prints its cost as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import sys
from typing import TYPE_CHECKING, Any

import click

from wia_lab.commands.fresh import told_by

if TYPE_CHECKING:
    from wia_lab.hal import Buffer, Context, Machine

MACHINE = "8xH100-nvlink"
SIZES = (1_000, 10_000, 100_000)
CHUNK = 64  # bytes: it is the scheduling that is measured, not NumPy's copying
STEPS = 6  # operations of a chunk: two copies, a call, and an event after each
SLOTS = 2


@click.command()
@click.option(
    "--most",
    type=click.IntRange(min=SIZES[0]),
    default=SIZES[-1],
    show_default=True,
    help="Leave out longer pipelines.",
)
def hal(*, most: int) -> None:
    """Schedule pipelines of copies and calls on eight virtual H100, and check what they computed.

    Each runs in a process of its own; "MiB" is the most memory that it had above what the imports
    took. The HAL is to stay under 2 s and 200 MiB for 10,000 operations, and to grow linearly.
    Takes about 7 s of one core.
    """
    rows = []
    for size in (each for each in SIZES if each <= most):
        cost = measured(size)
        each = f"{cost['seconds'] / cost['operations'] * 1e6:.1f}"
        mib = "-" if cost["mib"] is None else f"{cost['mib']:.1f}"
        rows.append(f"{cost['operations']:>10,}{cost['seconds']:>10.2f}{each:>10}{mib:>10}")
        click.echo(f"wia-lab: the pipeline of {size:,} operations has run", err=True)
    click.echo(f"{'operations':>10}{'user s':>10}{'µs each':>10}{'MiB':>10}")
    for row in rows:
        click.echo(row)
    click.echo(
        f"{MACHINE}, Python {platform.python_version()}, {os.cpu_count()} cores, "
        f"{platform.machine()}; every byte compared"
    )


def measured(size: int) -> dict[str, Any]:
    """Return operations, user seconds and MiB of a pipeline that runs in a process of its own."""
    cost: dict[str, Any] = told_by(f"the pipeline of {size:,} operations", "bench_hal", str(size))
    return cost


def pipeline(machine: Machine, operations: int) -> int:
    """Double each byte of an array in chunks, on all devices in turn; returns the operations.

    A device has a stream each for uploads, calls and downloads, and two slots that they share.

    Raises
    ------
    ValueError
        When what came back is wrong.
    """
    from wia_lab.hal import Context, MemoryKind

    chunks = max(1, operations // STEPS)
    contexts = [Context(device) for device in machine]
    source, result = (
        contexts[0].allocate(CHUNK * chunks, MemoryKind.PINNED, name=name)
        for name in ("source", "result")
    )
    source.host()[:] = 21
    lanes = [_Lane(context) for context in contexts]
    for i in range(chunks):
        part = slice(CHUNK * i, CHUNK * (i + 1))
        lanes[i % len(lanes)].submit(source, result, part)
    for context in contexts:
        context.synchronize()
    if not (result.host() == 42).all():
        raise ValueError(f"the pipeline of {operations:,} operations computed something else")
    for context in contexts:
        context.close()
    return chunks * STEPS


class _Lane:
    """One device's streams and slots."""

    def __init__(self, context: Context) -> None:
        self.up, self.compute, self.down = (context.create_stream() for _ in range(3))
        self.slots = [
            (context.allocate(CHUNK, name="in"), context.allocate(CHUNK, name="out"))
            for _ in range(SLOTS)
        ]
        self.read = [context.create_event("read") for _ in range(SLOTS)]
        self.emptied = [context.create_event("emptied") for _ in range(SLOTS)]
        self.turn = 0

    def submit(self, source: Buffer, result: Buffer, part: slice) -> None:
        """One chunk: up when the slot was read, doubled when its result was fetched, down."""
        slot, self.turn = self.turn % SLOTS, self.turn + 1
        given, made = self.slots[slot]
        if self.read[slot].is_recorded:
            self.up.wait(self.read[slot])
            self.compute.wait(self.emptied[slot])
        self.up.copy(given, source[part])
        self.compute.wait(self.up)
        self.compute.submit(_double, given, made, seconds=1e-5, reads=[given], writes=[made])
        self.down.wait(self.compute.record(self.read[slot]))
        self.down.copy(result[part], made)
        self.down.record(self.emptied[slot])


def _double(given: Any, made: Any) -> None:
    made[:] = given * 2


def main(size: int) -> None:
    """Run one pipeline and print its cost."""
    from wia_lab.hal import open_machine

    machine = open_machine(MACHINE)
    before, peak = os.times().user, peak_mib()
    operations = pipeline(machine, size)
    seconds, after = os.times().user - before, peak_mib()
    mib = None if peak is None or after is None else after - peak
    click.echo(json.dumps({"operations": operations, "seconds": seconds, "mib": mib}))


def peak_mib() -> float | None:
    """Return the most memory that this process has had; None where that cannot be asked."""
    if importlib.util.find_spec("resource") is None:  # Windows
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1 << 10  # bytes, or KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / (1 << 20)


if __name__ == "__main__":
    main(int(sys.argv[1]))
