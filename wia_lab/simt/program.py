"""A function as the scheduler runs it: segments of bound steps, and the ends between them.

A segment is a straight piece of code that a group runs without stopping. It ends where control
may part, or where lanes may have to wait: at a branch, a return, a barrier, a warp operation, a
call of a device function. Each step is bound once, when the program is built
(`wia_lab.simt.build`), to a function of the group that runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt.values import Value

if TYPE_CHECKING:
    from wia_lab.simt.controlflow import Step
    from wia_lab.simt.events import Site
    from wia_lab.simt.groups import Group
    from wia_lab.simt.machine import Machine
    from wia_lab.simt.scheduler import Scheduler

Compute = Callable[["Group"], Value]


@dataclass(eq=False, slots=True)
class Segment:
    """A straight piece of code."""

    index: int
    rank: int
    site: Site
    steps: list[tuple[int, Compute]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # source line of each step
    end: End = field(default=None)  # type: ignore[assignment]
    operations: dict[int, dict[str, int]] = field(default_factory=dict)  # line → kind → count
    widened: set[int] = field(default_factory=set)  # lines that widen float32 work to float64
    live_in: frozenset[int] = frozenset()  # slots that it, or what follows, may read
    reads: set[int] = field(default_factory=set)  # slots read before they are written here
    writes: set[int] = field(default_factory=set)


@dataclass(eq=False, slots=True)
class Edge:
    """From one segment to the first of a block: phi copies and the change of key."""

    target: Segment
    step: Step
    site: Site
    copies: tuple[tuple[int, int], ...] = ()  # (target slot, source slot), all at once
    spin: tuple[int, ...] | None = None  # back edge of a loop that waits for memory: what it tests
    leaves_spin: bool = False


class End:
    """How a segment ends."""

    site: Site

    def finish(self, scheduler: Scheduler, group: Group) -> Group | None:
        """Move the group on; None when it waits, has ended or was split."""
        raise NotImplementedError

    def successors(self) -> tuple[Edge | Segment, ...]:
        """Where control may go within this function."""
        return ()

    def reads(self) -> tuple[int, ...]:
        """Slots that the end itself reads."""
        return ()

    def writes(self) -> tuple[int, ...]:
        """Slots that the end sets."""
        return ()


@dataclass(eq=False, slots=True)
class Jump(End):
    """One way on."""

    edge: Edge
    site: Site

    def finish(self, scheduler: Scheduler, group: Group) -> Group | None:
        return scheduler.follow(group, self.edge)

    def successors(self) -> tuple[Edge | Segment, ...]:
        return (self.edge,)


@dataclass(eq=False, slots=True)
class Branch(End):
    """Two ways on: lanes may part."""

    condition: int
    edges: tuple[Edge, Edge]  # taken when true, when false
    site: Site

    def finish(self, scheduler: Scheduler, group: Group) -> Group | None:
        condition = group.slots[self.condition]
        if isinstance(condition, np.ndarray):
            return scheduler.split(group, self, group.bits & (condition != 0))
        return scheduler.follow(group, self.edges[0 if condition else 1])

    def successors(self) -> tuple[Edge | Segment, ...]:
        return self.edges

    def reads(self) -> tuple[int, ...]:
        return (self.condition,)


@dataclass(eq=False, slots=True)
class Return(End):
    """Back to the caller; from a kernel, the end of the lane."""

    value: int
    explicit: bool  # a `return` statement, not the end of the function
    site: Site

    def finish(self, scheduler: Scheduler, group: Group) -> Group | None:
        value = group.slots[self.value]
        return scheduler.leave(group, value, explicit=self.explicit, line=self.site.line)

    def reads(self) -> tuple[int, ...]:
        return (self.value,)


@dataclass(eq=False, slots=True)
class Raise(End):
    """An exception: the lanes end; in debug mode the host hears of it."""

    error: Callable[[Group], BaseException]
    site: Site

    def finish(self, scheduler: Scheduler, group: Group) -> Group | None:
        scheduler.fail(group, self.site, self.error(group))
        return None


@dataclass(eq=False, slots=True)
class Barrier(End):
    """Wait for the block, or for the grid; `vote` is "count", "and" or "or" over a predicate."""

    scope: str
    site: Site
    target: int = -1
    vote: str | None = None
    predicate: Compute | None = None
    operands: tuple[int, ...] = ()
    after: Segment = None  # type: ignore[assignment]

    def values(self, group: Group) -> tuple[Value, ...]:
        """The predicate in the group's lanes."""
        return () if self.predicate is None else (self.predicate(group),)

    def finish(self, scheduler: Scheduler, group: Group) -> Group | None:
        values = self.values(group)
        group.segment = self.after
        return scheduler.room.block(group, self, values)

    def successors(self) -> tuple[Edge | Segment, ...]:
        return (self.after,)

    def reads(self) -> tuple[int, ...]:
        return self.operands

    def writes(self) -> tuple[int, ...]:
        return (self.target,)


@dataclass(eq=False, slots=True)
class WarpOperation(End):
    """A shuffle, vote, match or syncwarp: runs when the lanes that its mask names have come.

    `compute(machine, values, lanes, members)` gives the result in every lane of `lanes`.
    """

    name: str
    site: Site
    target: int
    operands: tuple[Compute, ...]  # the mask first
    operand_slots: tuple[int, ...]
    compute: Callable[[Machine, tuple[Value, ...], np.ndarray, np.ndarray], Value]
    after: Segment = None  # type: ignore[assignment]

    def finish(self, scheduler: Scheduler, group: Group) -> Group | None:
        values = tuple(operand(group) for operand in self.operands)
        group.segment = self.after
        return scheduler.room.warp(group, self, values)

    def successors(self) -> tuple[Edge | Segment, ...]:
        return (self.after,)

    def reads(self) -> tuple[int, ...]:
        return self.operand_slots

    def writes(self) -> tuple[int, ...]:
        return (self.target,)


@dataclass(eq=False, slots=True)
class Call(End):
    """A call of a device function."""

    program: Program
    operands: tuple[Compute, ...]
    operand_slots: tuple[int, ...]
    target: int
    site: Site
    after: Segment = None  # type: ignore[assignment]

    def finish(self, scheduler: Scheduler, group: Group) -> Group | None:
        return scheduler.call(group, self)

    def successors(self) -> tuple[Edge | Segment, ...]:
        return (self.after,)

    def reads(self) -> tuple[int, ...]:
        return self.operand_slots

    def writes(self) -> tuple[int, ...]:
        return (self.target,)


@dataclass(eq=False)
class Program:
    """One function for one set of argument types."""

    name: str
    file: str
    entry: Segment = None  # type: ignore[assignment]
    entry_key: tuple[int, ...] = ()
    segments: list[Segment] = field(default_factory=list)
    initial: list[Any] = field(default_factory=list)  # slots when a frame is made
    names: list[str] = field(default_factory=list)  # variable of each slot
    argument_slots: tuple[int, ...] = ()
    tracked: frozenset[int] = frozenset()  # slots that some path may leave unset
    has_fences: bool = False
    has_grid_barrier: bool = False
    may_spin: bool = False
    shared_bytes: int = 0  # of static shared arrays declared here
    reinterprets: bool = False  # reads an array as another dtype
    written_arguments: set[int] = field(default_factory=set)
    _merges: dict[tuple[int, ...], frozenset[int]] = field(default_factory=dict)

    def merge_set(self, positions: list[int]) -> frozenset[int]:
        """Slots that groups at these segments still read: assignments must keep their lanes."""
        if not positions:
            return self.tracked
        key = tuple(sorted(set(positions)))
        found = self._merges.get(key)
        if found is None:
            live = frozenset().union(*(self.segments[each].live_in for each in key))
            found = self._merges[key] = live | self.tracked
        return found

    def settle_liveness(self) -> None:
        """Find what each segment and all that follows it may read (backward data flow)."""
        for segment in self.segments:
            segment.live_in = frozenset(segment.reads)
        changed = True
        while changed:
            changed = False
            for segment in reversed(self.segments):
                out: set[int] = set(segment.end.reads())
                for way in segment.end.successors():
                    out |= _needed(way) - set(segment.end.writes())
                live = frozenset(segment.reads | (out - segment.writes))
                if live != segment.live_in:
                    segment.live_in, changed = live, True


def _needed(way: Edge | Segment) -> set[int]:
    if isinstance(way, Segment):
        return set(way.live_in)
    targets = {target for target, _ in way.copies}
    return (set(way.target.live_in) - targets) | {source for _, source in way.copies}
