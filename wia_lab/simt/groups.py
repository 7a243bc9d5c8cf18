"""Groups of threads, the frames they run in, and the places where they wait."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from wia_lab.simt.events import Access, Site
    from wia_lab.simt.machine import Machine
    from wia_lab.simt.program import Program, Segment


ENDED, RETURNED, STOPPED = 1, 2, 3  # how a lane ended: at the end, by `return`, by the simulator


class Frame:
    """The variables of one call, for all lanes that made it together."""

    __slots__ = (
        "count",
        "entered",
        "machine",
        "parent",
        "positions",
        "prefix",
        "program",
        "resume",
        "slots",
        "target",
    )

    def __init__(
        self,
        machine: Machine,
        program: Program,
        prefix: tuple[int, ...],
        parent: Frame | None = None,
        resume: Group | None = None,
        target: int = -1,
    ) -> None:
        self.machine = machine
        self.program = program
        self.prefix = prefix
        self.parent = parent
        self.resume = resume  # where the caller goes on
        self.target = target  # the caller's slot that receives the result
        self.slots: list[Any] = list(program.initial)
        self.count = 0  # lanes inside
        self.entered = 0  # lanes that ever came in
        self.positions: list[int] = []  # segments at which other groups of this frame stand

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1


class Group:
    """Threads that stand at the same place in the same iteration."""

    __slots__ = (
        "bits",
        "count",
        "frame",
        "key",
        "machine",
        "merge",
        "parked",
        "reads",
        "segment",
        "slots",
    )

    def __init__(
        self, frame: Frame, segment: Segment, key: tuple[int, ...], bits: np.ndarray, count: int
    ) -> None:
        self.frame = frame
        self.machine = frame.machine
        self.slots = frame.slots
        self.segment = segment
        self.key = key  # (loop rank, iteration) a nesting level; the segment's rank comes last
        self.bits = bits  # bool, one a lane
        self.count = count
        self.merge: frozenset[int] = frozenset()  # slots that other groups still read
        self.reads: list[Access] | None = None  # what a loop that may spin has read this round
        self.parked: Parked | None = None

    @property
    def full_key(self) -> tuple[int, ...]:
        """What the scheduler compares: the smallest runs next."""
        return (*self.frame.prefix, *self.key, self.segment.rank)

    def part(self, bits: np.ndarray, count: int | None = None) -> Group:
        """The same place, for some of the lanes."""
        count = int(np.count_nonzero(bits)) if count is None else count
        return Group(self.frame, self.segment, self.key, bits, count)


@dataclass(slots=True)
class Parked:
    """Why a group stands aside: it went round a loop, and nothing that it reads has changed."""

    site: Site
    loop: tuple[int, ...]  # which loop: the slots that its edges compare
    reads: list[Access]
    version: int
    state: tuple[Any, ...]
    woken: bool = False
    rescued: bool = False  # a lane of one of its own warps changed what it watches

    def notice(self, group: Group, space: object, offsets: np.ndarray, lanes: np.ndarray) -> None:
        """Memory changed at `offsets`: wake the group if it read any of those cells."""
        changed = offsets[lanes]
        for access in self.reads:
            if access.space is space and np.isin(access.offsets[access.active], changed).any():
                self.woken = True
                writers = np.logical_or.reduceat(lanes, np.arange(0, lanes.size, 32))
                spinners = np.logical_or.reduceat(group.bits, np.arange(0, lanes.size, 32))
                self.rescued = self.rescued or bool((writers & spinners).any())
                return


@dataclass(slots=True)
class Waiter:
    """Lanes held at a barrier or a warp operation; `group` stands where they will go on."""

    kind: str  # "block", "grid" or "warp"
    site: Site
    end: Any
    group: Group
    values: tuple[Any, ...] = field(default=())
