"""What runs on a timeline: work, the operations made of it, streams, events and engines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from wia_lab.timeline.order import Clock, Region


@dataclass(eq=False, slots=True)
class Engine:
    """A part of a device that does one thing at a time: it copies, or it computes."""

    name: str
    device: int | None = None
    free_at: int = 0  # ns
    busy: int = 0  # ns in all

    def __repr__(self) -> str:
        return f"<engine {self.name}>"


class Site(NamedTuple):
    """A line of the caller's source."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What work says of itself as it starts: nanoseconds, and the memory it touches."""

    duration: int
    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work, before it is submitted.

    Attributes
    ----------
    name : str
        As a timeline or a message calls it.
    duration : int
        Nanoseconds on its engines.
    engines : tuple of Engine
        All are taken for the whole duration; none for a mark that takes no time.
    begin : callable, optional
        Called when the work starts, for work that knows only then how long it takes and what it
        touches: its `Outcome` stands in for `duration`, `reads` and `writes`. Accesses told so are
        compared in the order in which work ends, those of `reads` and `writes` when it is
        submitted: a timeline's accesses must all be told one way, or races can be missed.
    action : callable, optional
        Done when the work ends.
    reads, writes : tuple of Region
        Memory that the action touches, for the order check.
    kind : str
        "copy", "kernel", "host", "mark", …: for pictures and statistics.
    site : Site or str
        Where in the caller's source it was submitted.
    """

    name: str
    duration: int = 0
    engines: tuple[Engine, ...] = ()
    action: Callable[[], None] | None = None
    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()
    kind: str = "mark"
    site: Site | str = ""
    begin: Callable[[], Outcome] | None = None


@dataclass(eq=False, slots=True)
class Operation:
    """Submitted work. Times are nanoseconds of the simulated clock; None before they are known."""

    number: int
    work: Work
    stream: Stream
    submitted: int
    waits: tuple[Operation, ...] = ()
    awaited: tuple[int, ...] = ()  # numbers of `waits`, kept when these are let go
    start: int | None = None
    end: int | None = None
    error: BaseException | None = None
    stamp: int = 0  # its number among what its stream did
    clock: Clock = field(default_factory=dict)  # what happened before it; kept for `begin` alone
    outcome: Outcome | None = None
    followers: list[Stream] = field(default_factory=list)  # streams whose head waits for this

    @property
    def is_done(self) -> bool:
        """Whether it has ended, well or not."""
        return self.end is not None

    @property
    def duration(self) -> int:
        """Nanoseconds; of work that tells only as it starts, 0 before."""
        return self.work.duration if self.outcome is None else self.outcome.duration

    def __repr__(self) -> str:
        when = "not started" if self.start is None else f"{self.start:,} ns"
        return f"<{self.work.name} on {self.stream.name}: {when}>"


@dataclass(eq=False, slots=True)
class Stream:
    """Work that runs in the order submitted. Lower priorities go first where two could start."""

    number: int
    name: str
    device: int | None = None
    priority: int = 0
    legacy: bool = False  # waits for every blocking stream of its device, and they for it
    blocking: bool = True
    queue: deque[Operation] = field(default_factory=deque)
    last: Operation | None = None
    clock: Clock = field(default_factory=dict)  # what happens before the next operation
    pending_waits: list[Operation] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)  # not yet raised to who waits
    is_retired: bool = False  # nobody will submit to it again

    @property
    def is_drained(self) -> bool:
        """Whether all its work has ended and nothing of it is left to tell."""
        return not (self.queue or self.failures)

    @property
    def actor(self) -> str:
        """The stream in an order's clocks."""
        return f"stream {self.number}"

    def __repr__(self) -> str:
        return f"<stream {self.name}>"


@dataclass(eq=False, slots=True)
class Event:
    """A mark in a stream; recording it again moves it."""

    name: str = "event"
    operation: Operation | None = None
    clock: Clock = field(default_factory=dict)

    @property
    def is_recorded(self) -> bool:
        """Whether it has ever been recorded."""
        return self.operation is not None
