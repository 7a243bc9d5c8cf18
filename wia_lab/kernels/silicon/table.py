"""The recorded table, and the simulator's counters beside it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from wia_lab.kernels.silicon.suite import CASES
from wia_lab.simt.launch import simulate
from wia_lab.simt.nsight import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wia_lab.kernels.silicon.case import Case

RECORDED = "silicon_h200.csv"

ATOMIC_METRICS = {
    "global_atomic_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum",
    "global_atomic_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum",
}
"""Hardware tells atomics whose old value is used ("atom") from others ("red")."""

LOADED_BYTES = "smsp__sass_data_bytes_mem_global_op_ld.sum"
"""Bytes that lanes loaded, a cell that lanes share counted once: active lanes, where none do."""

EXPLAINED = {
    "tiled-matmul": "16 loads `left[ty, k]` become four LDS.128, of 2 wavefronts each",
    "async-convolution": "the five loads `weights[k]` become one LDS and one LDS.128",
    "atomic-add-one-cell": "a warp adds up first (REDUX.SUM) and one lane sends a REDG",
}
"""Kernels whose counters differ, and the instructions (row `sass` of the table) that say why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One counter of one kernel on the simulator and on hardware."""

    kernel: str
    counter: str
    simulated: int
    recorded: int

    @property
    def equal(self) -> bool:
        """Whether the two agree."""
        return self.simulated == self.recorded


@cache
def recorded() -> dict[str, dict[str, str]]:
    """Kernel → metric → value, as text."""
    table: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(line for line in _lines() if not line.startswith("#")):
        table.setdefault(row["kernel"], {})[row["metric"]] = row["value"]
    return table


def header() -> list[str]:
    """When, on what and how the table was recorded."""
    return [line[2:] for line in _lines() if line.startswith("#")]


def _lines() -> list[str]:
    return (resources.files("wia_lab") / "data" / RECORDED).read_text(encoding="utf-8").splitlines()


def rows(case: Case) -> list[Row]:
    """Counters of one case, simulated now, beside the recorded ones."""
    counters = simulate(case.kernel, case.grid, case.block, *case.arguments()).counters
    found = recorded()[case.name]
    return [
        Row(case.name, counter, getattr(counters, counter), value)
        for counter, value in _recorded_counters(found)
    ]


def _recorded_counters(found: dict[str, str]) -> Iterator[tuple[str, int]]:
    for metric, counter in METRICS.items():
        if metric in found:
            yield counter, int(float(found[metric]))
    for counter, metric in ATOMIC_METRICS.items():
        yield counter, sum(int(float(found[metric.format(kind)])) for kind in ("red", "atom"))


def render(kernels: list[str] | None = None) -> str:
    """The table as text: each counter that is not 0, simulated and recorded."""
    lines = [*header()[:2], f"{'kernel':<30}{'counter':<32}{'simulator':>12}{'H200':>12}"]
    differing = set()
    for name in kernels or list(CASES):
        for row in rows(CASES[name]):
            if row.simulated or row.recorded:
                mark = "=" if row.equal else "differs"
                counted = f"{row.simulated:>12,}{row.recorded:>12,}"
                lines.append(f"{row.kernel:<30}{row.counter:<32}{counted}  {mark}")
            if not row.equal:
                differing.add(name)
    lines += [f"{name}: {EXPLAINED.get(name, 'not explained')}" for name in sorted(differing)]
    count = len(kernels or CASES)
    lines.append(f"{count - len(differing)} of {count} kernels equal")
    return "\n".join(lines)
