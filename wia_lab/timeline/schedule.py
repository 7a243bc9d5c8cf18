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
from dataclasses import dataclass, field, replace

from wia_lab.errors import WiaLabError
from wia_lab.timeline.order import HOST, Clock, Order, Region
from wia_lab.timeline.work import Event, Operation, Outcome, Site, Stream, Work

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
        self._streams_made = 0
        self._retired: Clock = {}  # what was done on streams that are gone
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
        self._drop_retired()
        self._streams_made += 1
        number = self._streams_made
        made = Stream(number, name or f"stream {number}", device, priority, legacy, blocking)
        self.streams.append(made)
        return made

    def submit(self, stream: Stream, work: Work) -> Operation:
        """Put work at the end of a stream. The host goes on."""
        self.now += self.host_call
        waits = [*stream.pending_waits, *self._legacy_waits(stream)]
        stream.pending_waits.clear()
        self._number += 1
        numbers = tuple(each.number for each in waits)
        operation = Operation(self._number, work, stream, self.now, tuple(waits), numbers)
        self.order.join(stream.clock, self.order.host)
        operation.stamp = self.order.step(stream.clock, stream.actor)
        if work.begin is not None:
            operation.clock = dict(stream.clock)
        self._note(operation, stream.clock, work)
        stream.queue.append(operation)
        stream.last = operation
        if len(stream.queue) == 1:
            self._consider(stream)
        self._run(until=self.now)
        return operation

    def _note(self, operation: Operation, clock: Clock, touched: Work | Outcome) -> None:
        """Compare what an operation touches with what came before."""
        if touched.reads or touched.writes:
            stream, work = operation.stream, operation.work
            self.order.access(
                stream.actor,
                operation.stamp,
                clock,
                touched.reads,
                touched.writes,
                f"{work.name} on {stream.name}",
                work.site,
            )

    def finish(self, operation: Operation) -> None:
        """Simulate until an operation has ended, while the host goes on.

        For callers whose host cannot see, between now and the operation's end, that its effects
        are there already. What is submitted later starts no earlier than it has ended.
        """
        self._run(until=None, goal=operation)

    def retire(self, stream: Stream) -> None:
        """Nobody will submit to the stream again: forget it once its work has ended."""
        stream.is_retired = True

    def _drop_retired(self) -> None:
        kept = []
        for stream in self.streams:
            if stream.is_retired and stream.is_drained:
                self.order.join(self._retired, stream.clock)
            else:
                kept.append(stream)
        self.streams = kept

    def _legacy_waits(self, stream: Stream) -> list[Operation]:
        """The default stream waits for the others, and they for it."""
        waits = []
        if stream.legacy:
            self.order.join(stream.clock, self._retired)
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
        self, reads: Iterable[Region] = (), writes: Iterable[Region] = (), site: Site | str = ""
    ) -> None:
        """The host itself touches memory now."""
        stamp = self.order.step(self.order.host, HOST)
        self.order.access(
            HOST, stamp, self.order.host, tuple(reads), tuple(writes), "the host", site
        )

    def query(self, target: Stream | Event) -> bool:
        """Whether what was submitted before has ended by now. Costs the host a call.

        A host that has seen it ended comes after it.
        """
        self.now += self.host_call
        self._run(until=self.now)
        last = target.last if isinstance(target, Stream) else target.operation
        ended = last is None or (last.end is not None and last.end <= self.now)
        if ended:
            self.order.join(self.order.host, target.clock)
        return ended

    def synchronize(self, target: Stream | Event | None = None) -> None:
        """Let the host wait for a stream, an event, or for everything.

        Raises
        ------
        BaseException
            What failed in the stream waited for, once.
        """
        self.now += self.host_call
        targets, clocks = self._targets(target)
        for operation in targets:
            self._run(until=None, goal=operation)
        for operation in targets:
            self.now = max(self.now, operation.end or 0)
        for clock in clocks:
            self.order.join(self.order.host, clock)
        self._run(until=self.now)
        self.raise_failure(*(operation.stream for operation in targets))
        if target is None:
            self._drop_retired()

    def wait_at_most(self, target: Stream | Event, nanoseconds: int) -> bool:
        """As `synchronize`, but no longer than so; False when that did not do."""
        limit = self.now + self.host_call + nanoseconds
        self._run(until=limit)
        for operation in self._targets(target)[0]:
            if operation.end is None or operation.end > limit:
                self.now = limit
                return False
        self.synchronize(target)
        return True

    def _targets(self, target: Stream | Event | None) -> tuple[list[Operation], list[Clock]]:
        """The last operations to wait for, and what the host comes after then."""
        if isinstance(target, Event):
            return ([target.operation] if target.operation else []), [target.clock]
        streams = self.streams if target is None else [target]
        lasts = [stream.last for stream in streams if stream.last is not None]
        clocks = [stream.clock for stream in streams]
        return lasts, clocks if target is not None else [*clocks, self._retired]

    def raise_failure(self, *streams: Stream) -> None:
        """Raise what failed first in one of `streams` and was not raised yet, if anything did."""
        for stream in streams:
            if stream.failures:
                raise stream.failures.pop(0)

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
        operation.error = self._fault(operation)
        try:
            if operation.work.begin is not None and operation.error is None:
                operation.outcome = operation.work.begin()
        except Exception as error:
            operation.error = error
        finally:  # an interrupt too leaves an operation that ends, so that the stream goes on
            end = ready + operation.duration
            for engine in engines:
                engine.free_at = end
                engine.busy += operation.duration
            heapq.heappush(self._ends, (end, operation.number, operation))

    def _finish(self, operation: Operation) -> None:
        operation.end = (operation.start or 0) + operation.duration
        stream, work = operation.stream, operation.work
        stream.queue.popleft()
        if operation.outcome is not None:
            self._note(operation, operation.clock, operation.outcome)
        # What it held of the caller's must not live as long as the stream's last operation does.
        operation.work = replace(work, begin=None, action=None)
        operation.clock, operation.waits = {}, ()
        began = work.begin is None or operation.outcome is not None
        try:
            if work.action is not None and began and operation.error is None:
                work.action()
        except Exception as error:
            operation.error = error
        finally:
            if operation.error is not None:
                stream.failures.append(operation.error)
            if self.keep:
                self.finished.append(operation)
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
