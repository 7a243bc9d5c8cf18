"""`wia-lab bench kernels`: the recorded table of the reference kernels, and this machine's."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wia_lab.errors import WiaLabError
from wia_lab.kernels import claims, order, table
from wia_lab.kernels.measure import Row, measure
from wia_lab.kernels.workloads import WORKLOADS
from wia_lab.simt.spelling import nearest

NAMES = (*(each.topic.name for each in WORKLOADS), "hierarchy")
COMMAND = "wia-lab bench kernels"


class UnknownTopic(WiaLabError):
    """A topic that has no ladder."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Options:
    """What `bench kernels` is asked for.

    Attributes
    ----------
    topics : tuple of str
        Those shown and run; all where empty.
    recorded : bool
        Print the recorded table only, also where there is a GPU.
    order : bool
        Simulate the ladders and print how their cost order agrees with the measured one, and what
        that order cannot show.
    out : Path or None
        Where a run's table is written as CSV.
    """

    topics: tuple[str, ...] = ()
    recorded: bool = False
    order: bool = False
    out: Path | None = None


def main(options: Options, echo: Callable[[str], object] = print) -> int:
    """Print the recorded table; where a GPU, numba-cuda and PyTorch are, run it and print that too.

    What the sources claim of the topics stands below the recorded table.

    Returns
    -------
    int
        0; 1 where a kernel of the run gave a wrong answer.

    Raises
    ------
    UnknownTopic
        For a topic without a ladder.
    """
    for name in options.topics:
        if name not in NAMES:
            near = nearest(name, NAMES)
            way_out = f"did you mean {near}?" if near else f"{COMMAND} --recorded shows all"
            raise UnknownTopic(f"there is no ladder called {name}: {way_out}")
    shown = [row for row in table.recorded() if row.topic in (options.topics or NAMES)]
    echo("\n".join(("Recorded: " + table.header()[0], *table.header()[1:])))
    echo(table.render(shown))
    told = claims.render(options.topics)
    if told:
        echo(f"\n{told}")
    if options.order:
        echo("\nThe simulator's cost order, counted at small sizes, beside the measured one:")
        for each in order.orders(options.topics):
            sys.stderr.write(f"wia-lab: {each.topic} is simulated\n")
            echo(order.render(each))
        echo(order.LIMITS)
    reason = missing()
    if options.recorded or reason:
        if reason and not options.recorded:
            echo(f"\nNot run here: {reason}.")
        return 0
    notes = table.circumstances(COMMAND + "".join(f" {each}" for each in options.topics))
    echo("\nThis machine: " + "; ".join(notes))
    rows: list[Row] = []
    for row in measure(options.topics):
        rows.append(row)
        sys.stderr.write(f"{row.topic}, {row.step}: {row.milliseconds:.3f} ms\n")
        if options.out is not None:  # after each row: a run cut short leaves what it has
            options.out.write_text(table.write(rows, notes), encoding="utf-8")
    echo(table.render(rows))
    wrong = wrong_answers(rows)
    if wrong:
        echo("\nWrong answers: " + ", ".join(wrong))
    return 1 if wrong else 0


def wrong_answers(rows: list[Row]) -> list[str]:
    """Steps whose error, at full size or at the small ones, is beyond their topic's tolerance."""
    return [f"{row.topic}, {row.step}" for row in rows if not table.is_right(row)]


def missing() -> str:
    """Why the kernels cannot be run here; empty where they can."""
    for name in ("numba_cuda", "torch"):
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed"
    from torch.cuda import is_available  # noqa: PLC0415 - an optional package

    return "" if is_available() else "there is no CUDA device"
