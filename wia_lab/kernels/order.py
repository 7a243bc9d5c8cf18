"""The simulator's cost order of each ladder beside the measured one: Kendall's tau.

The simulator runs sizes that take it seconds, the hardware ran sizes thousands of times larger. So
what a small launch counts is scaled to the full size: each counter by the ratio of the work, memory
traffic by the ratio of the bytes, blocks likewise; then every multiprocessor is busy, which four
blocks of a 256×256 product cannot show.

Instructions are those that no compiler can take away: arithmetic on floats, accesses of global,
shared and constant memory, barriers and warp operations. The report of a launch counts Numba's
operations, and most of the others are gone once loops are unrolled: arrays that are indexed by
constants then lie in registers (CUDA C++ Programming Guide, "Local Memory"; a test of the ladders
holds that none of them is left in memory), and so do indices and loop counters.

What the order therefore cannot show: index arithmetic that stays, Numba's tests for negative
indices first; registers, so how many blocks fit where they are the limit; accesses that are merged
into wider ones; how many loads are in flight; hits in L1; atomics of many lanes that meet in one
place. Nothing is graded on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from wia_lab import machines
from wia_lab.kernels import table
from wia_lab.kernels.workloads import WORKLOADS, Workload
from wia_lab.simt import cost
from wia_lab.simt.counts import Counts
from wia_lab.simt.launch import simulate

if TYPE_CHECKING:
    from wia_lab.simt.report import Report

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

BYTES: dict[str, Callable[..., int]] = {
    "matmul": lambda m, n, k: 4 * (m * n + m * k + k * n),
    "convolution-2d": lambda batch, inputs, outputs, rows, columns: (
        4 * (batch * (inputs + outputs) * rows * columns + 9 * inputs * outputs)
    ),
}
"""Topic → bytes of its arguments, of the size; elsewhere they grow as the work does."""

LIMITS = (
    "Not in these cycles: index arithmetic that the compiler leaves, registers and the blocks that "
    "they let fit, merged accesses, loads in flight, hits in L1, atomics that meet in one place."
)


@dataclass(frozen=True, slots=True)
class Order:
    """One ladder: the steps that were measured, their costs, times and the agreement.

    Attributes
    ----------
    cycles, milliseconds
        Counted at the small size and scaled to the full one, and measured; one a step.
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


def irreducible(counts: Counts) -> Counts:
    """`counts` without the operations that a compiler can take away."""
    floats = (
        counts.float16_operations
        + counts.float32_operations
        + counts.float64_operations
        + counts.special_operations
        + counts.conversion_operations
    )
    accesses = (
        counts.global_load_requests
        + counts.global_store_requests
        + counts.global_atomic_requests
        + counts.shared_accesses
        + counts.constant_loads
    )
    synchronising = counts.barriers + counts.warp_syncs + counts.fences
    return replace(
        counts,
        warp_instructions=floats // 32 + accesses + synchronising,
        integer_operations=0,
        logic_operations=0,
    )


def full_cycles(report: Report, work: float, moved: float) -> float:
    """Cycles of a launch with `work` times the work and `moved` times the bytes of `report`'s."""
    counts = asdict(irreducible(report.counters))
    sectors = sum(each.loaded_sectors + each.stored_sectors for each in report.arrays)
    return cost.estimate(
        Counts(**{name: round(count * work) for name, count in counts.items()}),
        machines.device(report.launch.device),
        (ceil(prod(report.launch.grid) * work), 1, 1),
        report.launch.block,
        round(sectors * cost.SECTOR * moved),
        report.shared_bytes,
    ).cycles


def orders(topics: Sequence[str] = ()) -> Iterator[Order]:
    """Each ladder, or those named, simulated step by step."""
    measured = {(row.topic, row.step): row.milliseconds for row in table.recorded()}
    for workload in WORKLOADS:
        name = workload.topic.name
        if name not in SIMULATED or (topics and name not in topics):
            continue
        names = tuple(step.name for step in workload.topic.steps if (name, step.name) in measured)
        times = tuple(measured[name, each] for each in names)
        cycles = tuple(_cycles(workload, each) for each in names)
        yield Order(name, names, cycles, times, kendall(cycles, times))


def _cycles(workload: Workload, step: str) -> float:
    """Cycles of one step at the workload's size, from a run at the small one."""
    topic, small = workload.topic, SIMULATED[workload.topic.name]
    size_of = BYTES.get(topic.name, workload.work)
    work = workload.work(*workload.size) / workload.work(*small)
    moved = size_of(*workload.size) / size_of(*small)
    arguments = topic.arguments(np.random.default_rng(0), *small)
    return sum(
        full_cycles(
            simulate(each.kernel, each.grid, each.block, *each.arguments),
            work,
            moved,
        )
        for each in topic.step(step).plan(*arguments)
    )


def render(order: Order) -> str:
    """A ladder's lines: cycles, milliseconds, and the agreement last."""
    lines = [
        f"{order.topic:<20}{step:<26}{cycles:>14,.0f} cycles{milliseconds:>10.3f} ms"
        for step, cycles, milliseconds in zip(
            order.steps, order.cycles, order.milliseconds, strict=True
        )
    ]
    return "\n".join([*lines, f"{order.topic:<20}Kendall's tau {order.tau:+.2f}"])
