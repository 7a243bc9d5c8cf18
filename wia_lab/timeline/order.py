"""What happens before what: between streams, events, devices and the host.

Each stream, and the host, is an *actor* with a vector clock. An operation comes after what its
stream did before, after all that the host had done or waited for when it was submitted, and after
the events that its stream was told to wait for. Two accesses to the same bytes, one of them a
write, that no such chain orders are a hazard, whatever the simulated clock made of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.timeline.places import Places

if TYPE_CHECKING:
    from wia_lab.timeline.work import Site

Clock = dict[str, int]
"""Actor → number of its operations that have happened before."""

HOST = "host"


@dataclass(eq=False, slots=True)
class Buffer:
    """A range of bytes somewhere: on a device, or on the host."""

    name: str
    nbytes: int
    place: str = "host"
    accesses: Places[_Access] = field(default_factory=Places, repr=False)

    def region(self, low: int = 0, high: int | None = None) -> Region:
        """Bytes `low` to `high` of the buffer (all of it without arguments)."""
        return Region(self, low, self.nbytes if high is None else high)


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes `low` to `high`, the last not included; of these only `runs`, where they are given.

    `runs` is an integer array of shape (n, 2): first byte and the one after the last of each run,
    sorted, none touching another.
    """

    buffer: Buffer
    low: int
    high: int
    runs: np.ndarray | None = field(default=None, compare=False)

    @property
    def all_runs(self) -> np.ndarray:
        """Its runs; one where none are given."""
        return np.array([[self.low, self.high]]) if self.runs is None else self.runs

    def overlap(self, other: Region) -> tuple[int, int] | None:
        """The first bytes, low and high, that both hold; None where there are none."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low >= high:
            return None
        if self.runs is None and other.runs is None:
            return low, high
        mine, theirs = self.all_runs, other.all_runs
        met = np.searchsorted(theirs[:, 1], mine[:, 0], side="right")  # the first that ends later
        near = np.minimum(met, len(theirs) - 1)
        hits = np.flatnonzero((met < len(theirs)) & (theirs[near, 0] < mine[:, 1]))
        if not hits.size:
            return None
        first, second = mine[hits[0]], theirs[near[hits[0]]]
        return int(max(first[0], second[0])), int(min(first[1], second[1]))

    def covers(self, other: Region) -> bool:
        """Whether it surely holds all bytes of `other`."""
        if self.runs is not None and not np.array_equal(self.runs, other.all_runs):
            return False
        return self.low <= other.low and other.high <= self.high


@dataclass(frozen=True, slots=True, eq=False)
class _Access:
    number: int  # among all of its order
    actor: str
    stamp: int
    region: Region
    is_write: bool
    who: str
    site: Site | str

    @property
    def span(self) -> tuple[int, int]:
        return self.region.low, self.region.high

    def is_before(self, clock: Clock) -> bool:
        return clock.get(self.actor, 0) >= self.stamp


@dataclass(frozen=True, slots=True)
class StreamHazard:
    """Two accesses that nothing orders; sites are where in the source each was submitted."""

    kind: str  # "race"
    message: str
    buffer: str
    first: str
    second: str
    low: int
    high: int
    first_site: Site | str = ""
    second_site: Site | str = ""


class Order:
    """The clocks of all actors, and the hazards found."""

    def __init__(self) -> None:
        self.host: Clock = {}
        self.hazards: list[StreamHazard] = []
        self._told: set[tuple[str, str, str]] = set()
        self._noted = 0

    def take(self) -> list[StreamHazard]:
        """The hazards found, which are forgotten: the same cause will be told again."""
        found, self.hazards = self.hazards, []
        self._told.clear()
        return found

    def step(self, clock: Clock, actor: str) -> int:
        """The actor does its next thing; its number."""
        clock[actor] = stamp = clock.get(actor, 0) + 1
        return stamp

    @staticmethod
    def join(clock: Clock, other: Clock) -> None:
        """All that happened before `other` happens before `clock` too."""
        for actor, stamp in other.items():
            if clock.get(actor, 0) < stamp:
                clock[actor] = stamp

    def access(
        self,
        actor: str,
        stamp: int,
        clock: Clock,
        reads: tuple[Region, ...],
        writes: tuple[Region, ...],
        who: str,
        site: Site | str = "",
    ) -> None:
        """Note the accesses of one operation, and compare them with what is not ordered before."""
        for regions, is_write in ((reads, False), (writes, True)):
            for region in regions:
                self._noted += 1
                new = _Access(self._noted, actor, stamp, region, is_write, who, site)
                self._note(new, clock)

    def _note(self, new: _Access, clock: Clock) -> None:
        accesses = new.region.buffer.accesses
        for old in accesses.near(*new.span):
            ordered = old.is_before(clock)
            if not ordered and (old.is_write or new.is_write):
                self._compare(old, new)
            same = old.actor == new.actor and old.is_write == new.is_write
            if ordered and (new.is_write or same) and new.region.covers(old.region):
                accesses.remove(old)
        accesses.add(new)

    def _compare(self, old: _Access, new: _Access) -> None:
        both = old.region.overlap(new.region)
        name = new.region.buffer.name
        cause = (name, old.who, new.who)
        if both is None or cause in self._told:
            return
        self._told.add(cause)
        low, high = both
        what = f"bytes {low:,} to {high - 1:,} of {name}"
        message = (
            f"{_said(new)} {_verb(new)} {what}, which {_said(old)} {_verb(old)}, and nothing "
            f"orders the two: {_remedy(old, new)}"
        )
        self.hazards.append(
            StreamHazard("race", message, name, old.who, new.who, low, high, old.site, new.site)
        )


def _said(access: _Access) -> str:
    return f"{access.who} ({access.site})" if access.site else access.who


def _verb(access: _Access) -> str:
    return "writes" if access.is_write else "reads"


def _remedy(old: _Access, new: _Access) -> str:
    if new.actor == HOST:
        return "wait for the stream, or for an event recorded after it, before the host goes on"
    if old.actor == HOST:
        return "let the host touch the memory before it submits the work, or after it has waited"
    return "record an event after the first, and let the stream of the second wait for it"
