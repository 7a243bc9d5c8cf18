"""What a simulated launch leaves behind: counters, hazards, lines and cost, made to be read."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wia_lab import machines
from wia_lab.simt import cost, nsight, report_html, report_text, stepping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wia_lab.simt.counters import Counters
    from wia_lab.simt.counts import ArrayTraffic, Counts
    from wia_lab.simt.events import Launch
    from wia_lab.simt.inflight import InFlight, InFlightRecorder


@dataclass(frozen=True, slots=True)
class Line:
    """One source line: its text and what it did. Every counter is an attribute of the line too."""

    file: str
    line: int
    text: str
    counters: Counts

    def __getattr__(self, name: str) -> Any:
        """A counter of this line."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.counters, name)


@dataclass(frozen=True)
class Report:
    """All that one `simulate()` recorded.

    Attributes
    ----------
    counters : Counts
        Totals of the launch, of warp-level executions.
    hazards : tuple
        Errors first, then warnings.
    lines : dict
        The same counters a source line. Keys are line numbers of the kernel's file; lines of
        device functions from other files have keys `(file, line)`.
    arrays : tuple of ArrayTraffic
        What of each global array was touched, each byte once.
    async_timeline : tuple of InFlight
        For each pair of lines that issue and await an asynchronous copy, what ran in between.
    cost : Cost
        Cycles, seconds and what bounds the kernel, by a simple model.
    launch : Launch
        Kernel, grid and block.
    """

    launch: Launch
    counters: Counts
    hazards: tuple[Any, ...]
    lines: Mapping[int | tuple[str, int], Line]
    arrays: tuple[ArrayTraffic, ...]
    async_timeline: tuple[InFlight, ...]
    cost: cost.Cost
    shared_bytes: int = 0
    extras: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def errors(self) -> tuple[Any, ...]:
        """Hazards that make the launch wrong."""
        return tuple(hazard for hazard in self.hazards if hazard.severity == "error")

    @property
    def warnings(self) -> tuple[Any, ...]:
        """Hazards that a learner should know of."""
        return tuple(hazard for hazard in self.hazards if hazard.severity != "error")

    @property
    def ideal_load_sectors(self) -> int:
        """The fewest sectors that hold what was loaded: ⌈distinct bytes / 32⌉, summed over arrays.

        A kernel that loads each byte once and coalesced has `global_load_sectors` equal to it,
        one sector an array and warp row aside where rows are not 32-byte aligned.
        """
        return sum(array.ideal_load_sectors for array in self.arrays)

    @property
    def ideal_store_sectors(self) -> int:
        """The fewest sectors that hold what was stored, likewise."""
        return sum(array.ideal_store_sectors for array in self.arrays)

    def array(self, name: str) -> ArrayTraffic:
        """Traffic of the array argument called `name`."""
        for array in self.arrays:
            if array.name == name:
                return array
        known = ", ".join(array.name for array in self.arrays) or "none"
        raise KeyError(f"no global array called {name!r} was touched; touched: {known}")

    def step(
        self, block: int = 0, warp: int = 0, *, start: int = 0, limit: int = 1000
    ) -> stepping.Walk:
        """Walk one warp through the launch: its lines, active lanes, values and addresses.

        The launch is run again on copies of its arguments; steps `start` to `start + limit` are
        kept. `block` counts blocks with x fastest, `warp` the warps of that block.

        Raises
        ------
        WiaLabError
            For a block or warp that the launch has not, or arguments too large to be kept.
        """
        return self.extras["replay"].walk(block, warp, start, limit)

    def nsight(self) -> dict[str, float]:
        """The counters under Nsight Compute's metric names."""
        return nsight.metrics(self.counters)

    def __repr__(self) -> str:
        """One screen of text: hazards, totals, the busiest lines, the cost."""
        return report_text.render(self)

    def _repr_html_(self) -> str:
        """The same as tables, for Jupyter."""
        return report_html.render(self)


def build_report(
    launch: Launch,
    counters: Counters,
    hazards: Sequence[Any] = (),
    inflight: InFlightRecorder | None = None,
    shared_bytes: int = 0,
    source_lines: Mapping[tuple[str, int], str] | None = None,
) -> Report:
    """The report of a launch that has ended.

    Parameters
    ----------
    launch : Launch
        `launch.device` names a data sheet of `wia_lab.machines`.
    counters : Counters
        The listener that heard the launch.
    hazards : sequence
        Each with `kind`, `severity`, `line`, `other_line`, `message`; put into order here.
    inflight : InFlightRecorder, optional
        The listener that heard asynchronous copies.
    shared_bytes : int
        Shared memory a block, static and dynamic, in bytes.
    source_lines : mapping, optional
        Text of source lines by file and line; what is not in it is read from the file, or from
        the notebook's cell.
    """
    total = counters.total()
    lines = {}
    for (file, number), counts in counters.by_line().items():
        text = (source_lines or {}).get((file, number)) or linecache.getline(file, number)
        key = number if file == launch.file else (file, number)
        lines[key] = Line(file, number, text.strip(), counts)
    arrays = counters.arrays()
    sectors = sum(array.loaded_sectors + array.stored_sectors for array in arrays)
    return Report(
        launch,
        total,
        tuple(sorted(hazards, key=lambda hazard: (hazard.severity != "error", hazard.line))),
        lines,
        arrays,
        inflight.records() if inflight else (),
        cost.estimate(
            total,
            machines.device(launch.device),
            launch.grid,
            launch.block,
            sectors * cost.SECTOR,
            shared_bytes,
        ),
        shared_bytes,
    )
