"""`wia-lab bench memory`: allocator designs on recorded traces, beside PyTorch's own."""

from __future__ import annotations

import click


@click.command()
@click.option("--no-curve", is_flag=True, help="Leave out the cost against live blocks.")
@click.option(
    "--most",
    type=click.IntRange(min=1000),
    default=1_000_000,
    show_default=True,
    help="Most live blocks of the curve.",
)
def memory(no_curve: bool, most: int) -> None:
    """Hold allocator designs against three recorded PyTorch programs, and time them.

    The table has peak reserved / peak live by highest address and by 2 MiB pages mapped; the
    curve, the cost of an operation from 1,000 live blocks on. Takes about 80 s of one core; 5 s
    with --no-curve, 15 s with --most 100000.
    """
    from wia_lab.memory.bench import main

    main([*(["--no-curve"] if no_curve else []), "--most", str(most)])
