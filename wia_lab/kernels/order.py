"""The simulator's cost order of each ladder beside the measured one: Kendall's tau.

The simulator runs sizes that take it seconds, the hardware ran sizes thousands of times larger, so
a ladder whose later steps need many blocks to fill the device is ranked as the small launch that
was simulated, not as the large one. Nothing is graded on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wia_lab.kernels import table
from wia_lab.kernels.workloads import WORKLOADS
from wia_lab.simt.launch import simulate

SIMULATED = {
    "vector-add": (1 << 20,),
    "axpy": (1 << 20,),
    "copy": (1 << 20,),
    "transpose": (1024, 1024),
    "convolution": (1 << 20,),
    "stencil": (512, 1024),
    "reduction": (1 << 20,),
    "scan": (1 << 18,),
    "softmax": (264, 2048),
    "layer-norm": (264, 2048),
    "histogram": (1 << 20,),
    "matmul": (256, 256, 64),
    "convolution-2d": (1, 8, 64, 32, 64),
}
"""Topic → the size that is simulated; topics that are not here are left out."""


@dataclass(frozen=True, slots=True)
class Order:
    """One ladder: the steps that were measured, their costs, times and the agreement.

    Attributes
    ----------
    cycles, milliseconds
        Simulated at the small size, measured at the full one; one a step.
    tau : float
        Pairs in the same order less pairs in the other, over all pairs; ties count for neither.
    """

    topic: str
    steps: tuple[str, ...]
    cycles: tuple[float, ...]
    milliseconds: tuple[float, ...]
    tau: float


def kendall(first: Sequence[float], second: Sequence[float]) -> float:
    """Kendall's tau-a of two rankings of at least two things."""
    pairs = list(itertools.combinations(range(len(first)), 2))
    signs = [np.sign((first[i] - first[j]) * (second[i] - second[j])) for i, j in pairs]
    return float(sum(signs)) / len(pairs)


def orders(topics: Sequence[str] = ()) -> Iterator[Order]:
    """Each ladder, or those named, simulated step by step."""
    measured = {(row.topic, row.step): row.milliseconds for row in table.recorded()}
    for topic in (each.topic for each in WORKLOADS):
        if topic.name not in SIMULATED or (topics and topic.name not in topics):
            continue
        steps = [step for step in topic.steps if (topic.name, step.name) in measured]
        cycles = []
        for step in steps:
            arguments = topic.arguments(np.random.default_rng(0), *SIMULATED[topic.name])
            reports = [
                simulate(each.kernel, each.grid, each.block, *each.arguments)
                for each in step.plan(*arguments)
            ]
            cycles.append(sum(report.cost.cycles for report in reports))
        times = tuple(measured[topic.name, step.name] for step in steps)
        names = tuple(step.name for step in steps)
        yield Order(topic.name, names, tuple(cycles), times, kendall(cycles, times))


def render(order: Order) -> str:
    """A ladder's lines: cycles, milliseconds, and the agreement last."""
    lines = [
        f"{order.topic:<20}{step:<26}{cycles:>14,.0f} cycles{milliseconds:>10.3f} ms"
        for step, cycles, milliseconds in zip(
            order.steps, order.cycles, order.milliseconds, strict=True
        )
    ]
    return "\n".join([*lines, f"{order.topic:<20}Kendall's tau {order.tau:+.2f}"])
