"""What happens before what: between streams, events, devices and the host.

Each stream, and the host, is an *actor* with a vector clock. An operation comes after what its
stream did before, after all that the host had done or waited for when it was submitted, and after
the events that its stream was told to wait for. Two accesses to the same bytes, one of them a
write, that no such chain orders are a hazard, whatever the simulated clock made of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Clock = dict[str, int]
"""Actor → number of its operations that have happened before."""

HOST = "host"


@dataclass(eq=False, slots=True)
class Buffer:
    """A range of bytes somewhere: on a device, or on the host."""

    name: str
    nbytes: int
    place: str = "host"
    accesses: list[_Access] = field(default_factory=list, repr=False)

    def region(self, low: int = 0, high: int | None = None) -> Region:
        """Bytes `low` to `high` of the buffer (all of it without arguments)."""
        return Region(self, low, self.nbytes if high is None else high)


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes `low` to `high`, the last not included."""

    buffer: Buffer
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class _Access:
    actor: str
    stamp: int
    low: int
    high: int
    is_write: bool
    who: str
    site: str

    def is_before(self, clock: Clock) -> bool:
        return clock.get(self.actor, 0) >= self.stamp


@dataclass(frozen=True, slots=True)
class StreamHazard:
    """Two accesses that nothing orders."""

    kind: str  # "race"
    message: str
    buffer: str
    first: str
    second: str
    low: int
    high: int


class Order:
    """The clocks of all actors, and the hazards found."""

    def __init__(self) -> None:
        self.host: Clock = {}
        self.hazards: list[StreamHazard] = []
        self._told: set[tuple[str, str, str]] = set()

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
        site: str = "",
    ) -> None:
        """Note the accesses of one operation, and compare them with what is not ordered before."""
        for regions, is_write in ((reads, False), (writes, True)):
            for region in regions:
                self._note(
                    region.buffer,
                    _Access(actor, stamp, region.low, region.high, is_write, who, site),
                    clock,
                )

    def _note(self, buffer: Buffer, new: _Access, clock: Clock) -> None:
        kept = []
        for old in buffer.accesses:
            overlaps = old.low < new.high and new.low < old.high
            ordered = old.is_before(clock)
            if overlaps and not ordered and (old.is_write or new.is_write):
                self._report(buffer, old, new)
            covered = new.low <= old.low and old.high <= new.high
            same = old.actor == new.actor and old.is_write == new.is_write
            if not (ordered and covered and (new.is_write or same)):
                kept.append(old)
        kept.append(new)
        buffer.accesses = kept

    def _report(self, buffer: Buffer, old: _Access, new: _Access) -> None:
        cause = (buffer.name, old.who, new.who)
        if cause in self._told:
            return
        self._told.add(cause)
        low, high = max(old.low, new.low), min(old.high, new.high)
        what = f"bytes {low:,} to {high - 1:,} of {buffer.name}"
        message = (
            f"{_said(new)} {_verb(new)} {what}, which {_said(old)} {_verb(old)}, and nothing "
            f"orders the two: {_remedy(old, new)}"
        )
        self.hazards.append(StreamHazard("race", message, buffer.name, old.who, new.who, low, high))


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
