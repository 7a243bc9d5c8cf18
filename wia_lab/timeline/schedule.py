"""The simulated clock: which work starts when, on which engine.

Streams run their work in order; an engine does one thing at a time. Where several streams could use
an engine next, the one that became ready first gets it, then the lower priority number, then the
one submitted first. The host has a time of its own: each call costs it `host_call`, and waiting
moves it on. Work is simulated no further than the host's time, except while the host waits: so what
the host submits later can never be too late.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from wia_lab.errors import WiaLabError
from wia_lab.timeline.order import HOST, Order, Region
from wia_lab.timeline.work import Event, Operation, Stream, Work

HOST_CALL = 2_000
"""Nanoseconds that a call costs the host."""


class TimelineError(WiaLabError):
    """A use of streams or events that no device could carry out."""


@dataclass(slots=True)
class Fault:
    """What goes wrong: the first `times` operations that `matches` fail with `error`."""

    matches: Callable[[Operation], bool]
    error: BaseException
    times: int = 1


@dataclass(eq=False)
class Timeline:
    """Runs work on engines, and keeps the order of all accesses.

    Attributes
    ----------
    now : int
        The host's time, ns.
    finished : list of Operation
        In the order in which they ended; `keep=False` keeps none, for long runs.
    """

    host_call: int = HOST_CALL
    keep: bool = True
    now: int = 0
    order: Order = field(default_factory=Order)
    finished: list[Operation] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._number = 0
        self._unfinished = 0
        self._starts: list[tuple[int, int, int, Operation]] = []
        self._ends: list[tuple[int, int, Operation]] = []

    # What the host does

    def stream(
        self,
        name: str | None = None,
        *,
        device: int | None = None,
        priority: int = 0,
        legacy: bool = False,
        blocking: bool = True,
    ) -> Stream:
        """A new stream."""
        number = len(self.streams) + 1
        made = Stream(number, name or f"stream {number}", device, priority, legacy, blocking)
        self.streams.append(made)
        return made

    def submit(self, stream: Stream, work: Work) -> Operation:
        """Put work at the end of a stream. The host goes on."""
        self.now += self.host_call
        waits = [*stream.pending_waits, *self._legacy_waits(stream)]
        stream.pending_waits.clear()
        self._number += 1
        operation = Operation(self._number, work, stream, self.now, tuple(waits))
        self.order.join(stream.clock, self.order.host)
        stamp = self.order.step(stream.clock, stream.actor)
        if work.reads or work.writes:
            who = f"{work.name} on {stream.name}"
            self.order.access(
                stream.actor, stamp, stream.clock, work.reads, work.writes, who, work.site
            )
        stream.queue.append(operation)
        stream.last = operation
        self._unfinished += 1
        if len(stream.queue) == 1:
            self._consider(stream)
        self._run(until=self.now)
        return operation

    def _legacy_waits(self, stream: Stream) -> list[Operation]:
        """The default stream waits for the others, and they for it."""
        waits = []
        for other in self.streams:
            if other is stream or other.device != stream.device or other.last is None:
                continue
            if (stream.legacy and other.blocking) or (other.legacy and stream.blocking):
                self.order.join(stream.clock, other.clock)
                if not other.last.is_done:
                    waits.append(other.last)
        return waits

    def record(self, event: Event, stream: Stream) -> Operation:
        """Mark the point after what was submitted to a stream."""
        event.operation = self.submit(stream, Work(f"record {event.name}"))
        event.clock = dict(stream.clock)
        return event.operation

    def wait(self, stream: Stream, event: Event) -> None:
        """Hold later work of a stream until an event has happened. The host goes on.

        Raises
        ------
        TimelineError
            The event was never recorded: on hardware the wait would do nothing.
        """
        if event.operation is None:
            raise TimelineError(
                f"{stream.name} waits for {event.name}, which was never recorded, so it would wait "
                "for nothing: record the event in the stream whose work is to be waited for"
            )
        self.now += self.host_call
        self.order.join(stream.clock, event.clock)
        if not event.operation.is_done:
            stream.pending_waits.append(event.operation)

    def host_access(
        self, reads: Iterable[Region] = (), writes: Iterable[Region] = (), site: str = ""
    ) -> None:
        """The host itself touches memory now."""
        stamp = self.order.step(self.order.host, HOST)
        self.order.access(
            HOST, stamp, self.order.host, tuple(reads), tuple(writes), "the host", site
        )

    def query(self, target: Stream | Event) -> bool:
        """Whether what was submitted before has ended by now. Costs the host a call."""
        self.now += self.host_call
        self._run(until=self.now)
        last = target.last if isinstance(target, Stream) else target.operation
        return last is None or last.is_done

    def synchronize(self, target: Stream | Event | None = None) -> None:
        """Let the host wait for a stream, an event, or for everything.

        Raises
        ------
        BaseException
            What failed in the stream waited for, once.
        """
        self.now += self.host_call
        if target is None:
            targets = [stream.last for stream in self.streams if stream.last is not None]
            clocks = [stream.clock for stream in self.streams]
        elif isinstance(target, Stream):
            targets, clocks = [target.last] if target.last else [], [target.clock]
        else:
            targets, clocks = [target.operation] if target.operation else [], [target.clock]
        for operation in targets:
            self._run(until=None, goal=operation)
        for operation in targets:
            self.now = max(self.now, operation.end or 0)
        for clock in clocks:
            self.order.join(self.order.host, clock)
        self._run(until=self.now)
        for operation in targets:
            if operation.error is not None:
                error, operation.error = operation.error, None
                raise error

    # The clock

    def _consider(self, stream: Stream) -> None:
        """The head of a stream's queue may start, or waits for others."""
        if not stream.queue:
            return
        operation = stream.queue[0]
        open_waits = [each for each in operation.waits if not each.is_done]
        if open_waits:
            open_waits[0].followers.append(stream)
            return
        ready = max([operation.submitted, *(each.end or 0 for each in operation.waits)])
        ready = max(ready, self._time)
        self._push(operation, ready)

    _time = 0  # of the event being simulated

    def _push(self, operation: Operation, ready: int) -> None:
        entry = (ready, operation.stream.priority, operation.number, operation)
        heapq.heappush(self._starts, entry)

    def _run(self, until: int | None, goal: Operation | None = None) -> None:
        """Simulate to a time, or until `goal` has ended."""
        while self._starts or self._ends:
            if goal is not None and goal.is_done:
                return
            ends_first = self._ends and (not self._starts or self._ends[0][0] <= self._starts[0][0])
            time = self._ends[0][0] if ends_first else self._starts[0][0]
            if until is not None and time > until:
                return
            self._time = max(self._time, time)
            if ends_first:
                self._finish(heapq.heappop(self._ends)[2])
            else:
                self._start(heapq.heappop(self._starts))
        if goal is not None and not goal.is_done:
            raise TimelineError(
                f"{goal!r} waits for work that waits for it: two streams wait for each other"
            )

    def _start(self, entry: tuple[int, int, int, Operation]) -> None:
        ready, _, _, operation = entry
        engines = operation.work.engines
        free = max((engine.free_at for engine in engines), default=0)
        if free > ready:
            self._push(operation, free)
            return
        operation.start = ready
        end = ready + operation.work.duration
        for engine in engines:
            engine.free_at = end
            engine.busy += operation.work.duration
        heapq.heappush(self._ends, (end, operation.number, operation))

    def _finish(self, operation: Operation) -> None:
        operation.end = (operation.start or 0) + operation.work.duration
        self._unfinished -= 1
        operation.error = self._fault(operation)
        if operation.error is None and operation.work.action is not None:
            try:
                operation.work.action()
            except Exception as error:
                operation.error = error
        if self.keep:
            self.finished.append(operation)
        stream = operation.stream
        stream.queue.popleft()
        self._consider(stream)
        for follower in operation.followers:
            self._consider(follower)
        operation.followers.clear()

    def _fault(self, operation: Operation) -> BaseException | None:
        for fault in self.faults:
            if fault.times > 0 and fault.matches(operation):
                fault.times -= 1
                return fault.error
        return None
