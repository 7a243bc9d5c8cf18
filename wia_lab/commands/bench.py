"""`wia-lab bench`: measurements that anyone can rerun. They print; nothing is gated on them.

A new one is a function in a module of its own and a row in `BENCHES`.
"""

from __future__ import annotations

import click

from wia_lab.commands.lazy import LazyGroup

BENCHES = {
    "hal": "wia_lab.commands.bench_hal:hal",
    "kernels": "wia_lab.commands.bench_ladders:kernels",
    "memory": "wia_lab.commands.bench_memory:memory",
    "silicon": "wia_lab.commands.bench_silicon:silicon",
    "simulator": "wia_lab.commands.bench_simulator:simulator",
}


@click.group(cls=LazyGroup, homes=BENCHES)
def bench() -> None:
    """Measure on this machine and print a table."""
