"""Streams (§3.4): work that runs in order on one device, beside that of other streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from wia_lab import errors
from wia_lab.cuda.policy import caller_site
from wia_lab.hal.backends.base import Call, KernelLaunch, Span
from wia_lab.hal.buffer import Buffer, Part
from wia_lab.hal.checks import (
    Closing,
    checked,
    checked_callable,
    checked_context,
    checked_flag,
    checked_name,
    checked_seconds,
    checked_timeout,
    checked_whole,
    refuse,
)
from wia_lab.hal.errors import (
    AccessRefused,
    Closed,
    ForeignHandle,
    HalError,
    InvalidValue,
    TimedOut,
)
from wia_lab.hal.event import Event
from wia_lab.hal.exhaustion import exhausted
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.prepared import Prepared
from wia_lab.hal.turn import on_turn

if TYPE_CHECKING:
    from wia_lab.hal.backends.base import Launched
    from wia_lab.hal.context import Context
    from wia_lab.hal.ops.operation import Operation

Memory = Buffer | Part


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """How a stream is made."""

    priority: int = 0  # lower runs first
    name: str | None = None  # shown in timelines and hazards

    def __post_init__(self) -> None:
        checked_whole("StreamOptions: priority", self.priority)
        checked_name("StreamOptions: name", self.name)


class Stream(Closing):
    """Work that runs in order on one device. Use `with`, or `close`; closing twice is fine."""

    def __init__(self, context: Context, options: StreamOptions) -> None:
        self.context: Context = checked_context("Stream: context", context)
        way = "give StreamOptions, or ask context.create_stream()"
        self.options = checked("Stream: options", options, StreamOptions, way)
        self._backend = context.backend
        self.handle = self._backend.create_stream(
            context.device.number, options.priority, options.name
        )
        self.name: str = self.handle.name
        self.is_closed = False
        self.prepared = Prepared(context)

    def __repr__(self) -> str:
        return f"<{self.name} on {self.context.device!r}{', closed' * self.is_closed}>"

    @property
    def is_done(self) -> bool:
        """Whether all that was submitted has ended by now."""
        self.check_open()
        return self._backend.query(self.handle)

    def copy(self, target: Memory, source: Memory) -> None:
        """Copy `source` to `target`, in any direction. The host goes on, if neither is HOST memory.

        The two must not overlap.

        Between two devices the copy needs no access, and goes through the host without it; after
        `enable_peer_access`, of either to the other, it goes straight.

        Raises
        ------
        InvalidValue
            When their lengths differ, or they overlap.
        """
        self.check_open()
        checked_memory("copy: target", target)
        checked_memory("copy: source", source)
        if target.nbytes != source.nbytes:
            raise InvalidValue(
                f"copy of {source!r} to {target!r}: {source.nbytes:,} bytes do not fit "
                f"{target.nbytes:,} exactly: copy a slice, as in buffer[0:{source.nbytes}]"
            )
        to, at = self._span(target), self._span(source)
        if to.meets([at]):
            raise InvalidValue(
                f"copy of {source!r} to {target!r}: the two overlap, and no device says in which "
                "order it copies bytes: copy through another buffer, or in pieces that do not"
            )
        self._backend.copy(self.handle, to, at, caller_site())

    def copy_from(self, target: Memory, address: int, device: int) -> None:
        """Copy as many bytes as `target` has from memory of another library on a real device."""
        self.check_open()
        source = self._backend.foreign(address, target.nbytes, device)
        self._backend.copy(self.handle, self._span(target), source, caller_site())

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        seconds: float,
        reads: Sequence[Memory] | None = None,
        writes: Sequence[Memory] | None = None,
        name: str | None = None,
    ) -> None:
        """Call `function` on the device's turn; buffers reach it as arrays of bytes.

        It is what a kernel is to a virtual device: `seconds` is how long it keeps the device busy.
        `reads` and `writes` say what of its arguments it touches; without them, all of them both.
        Arrays of which it writes nothing are read-only. It must not call the HAL: it runs while the
        stream is busy with it.

        Raises
        ------
        AccessRefused
            For memory that kernels cannot reach, or of a peer that this context was not let read.
        """
        self.check_open()
        checked_callable("submit: function", function)
        checked_seconds("submit: seconds", seconds)
        checked_name("submit: name", name)
        for number, each in enumerate(arguments):
            if hasattr(each, "part") and not isinstance(each, Buffer | Part):
                refuse(f"submit: argument {number}", each, "give tensor.part, the memory of it")
        memory = [each for each in arguments if isinstance(each, Buffer | Part)]
        call = Call(
            partial(on_turn, self.name, function),
            [
                self._reached(each) if isinstance(each, Buffer | Part) else each
                for each in arguments
            ],
            [self._reached(each) for each in _listed("submit: reads", reads, memory)],
            [self._reached(each) for each in _listed("submit: writes", writes, memory)],
            seconds,
            name or str(getattr(function, "__name__", "call")),
        )
        with self._exhausting():
            self._backend.call(self.handle, self.context.device.number, call, caller_site())

    def launch(self, launch: KernelLaunch) -> Launched | None:
        """Run a kernel whose arguments were checked; see `launch_kernel_async`.

        Returns how to make the same launch again, where that saves anything.

        Raises
        ------
        AccessRefused
            As `submit`.
        InvalidValue
            For a launch beyond the device's limits.
        """
        self.check_open()
        checked("launch", launch, KernelLaunch, "call launch_kernel_async, which makes it")
        arguments = [
            each if each.layout is None else replace(each, value=self._reached(each.value))
            for each in launch.arguments
        ]
        return self._backend.launch(
            self.handle,
            self.context.device.number,
            replace(launch, arguments=arguments),
            caller_site(),
        )

    def operate(self, operation: Operation, inputs: Sequence[Memory], output: Memory) -> None:
        """Compute an operation on tensors, which lie in these parts of memory.

        Raises
        ------
        AccessRefused
            As `submit`.
        OutOfMemory
            Where a real device has no room for what lies between two of its kernels.
        """
        self.check_open()
        spans = [self._reached(each) for each in (*inputs, output)]
        with self._exhausting():
            self._backend.operate(
                self.handle,
                self.context.device.number,
                operation,
                spans[:-1],
                spans[-1],
                caller_site(),
            )

    def prefetch(self, memory: Memory, *, to_host: bool = False) -> None:
        """Bring unified memory to this stream's device, or to the host, before it is touched.

        Raises
        ------
        AccessRefused
            For any other kind of memory.
        """
        self.check_open()
        checked_memory("prefetch: memory", memory)
        checked_flag("prefetch: to_host", to_host)
        owner = memory.buffer if isinstance(memory, Part) else memory
        owner.check_placed("prefetch")
        place = None if to_host else self.context.device.number
        self._backend.prefetch(self.handle, self._span(memory), place, caller_site())

    def record(self, event: Event | None = None) -> Event:
        """Mark the point after what was submitted so far, with a new event if none is given."""
        self.check_open()
        way = "give an event, as context.create_event() makes one, or none"
        marked = Event(self.context) if event is None else checked("record", event, Event, way)
        marked.check_machine(self.context)
        self._backend.record(marked.handle, self.handle)
        return marked

    def wait(self, other: Event | Stream) -> None:
        """Hold later work until an event, or all that a stream was given, is done.

        The host goes on.

        Raises
        ------
        NotReady
            For an event that was never recorded, which would hold nothing.
        """
        self.check_open()
        way = "give an event, or a stream whose work so far is to be waited for"
        checked("wait: other", other, (Event, Stream), way)
        event = other.record() if isinstance(other, Stream) else other
        event.check_machine(self.context)
        event.check_recorded("waited for")
        self._backend.wait_event(self.handle, event.handle)

    def synchronize(self, *, timeout: float | None = None) -> None:
        """Let the host wait until all is done, at most `timeout` seconds, or the context's.

        Raises
        ------
        TimedOut
            When that did not do. The work goes on.
        """
        self.check_open()
        given = checked_timeout("synchronize: timeout", timeout)
        allowed = self.context.timeout if given is None else given
        if not self.context.wait_for(self.handle, allowed):
            raise TimedOut(
                f"{self!r} did not end within {allowed} s: wait longer, with timeout= or the "
                "context's timeout"
            )

    def close(self) -> None:
        """Take no more work; what was submitted is still done, and the context waits for it."""
        if not self.is_closed:
            self.is_closed = True
            self.context.generation += 1
            self.context.streams.remove(self)
            self.context.drain(self.handle)
            self._backend.destroy_stream(self.handle)

    def check_open(self) -> None:
        """Refuse a stream that was closed, or whose context was."""
        self.context.check_open()
        if self.is_closed:
            raise Closed(f"{self!r} was used: make one with context.create_stream()")

    @contextmanager
    def _exhausting(self) -> Iterator[None]:
        """Tell of room that work needs on the way, and does not get, as of any other memory."""
        try:
            yield
        except errors.AllocatorError as error:
            if isinstance(error, HalError):  # has told it all
                raise
            requested = getattr(error, "requested", 0)
            raise exhausted(self.context, requested, error) from error

    def _span(self, memory: Memory) -> Span:
        owner = memory.buffer if isinstance(memory, Part) else memory
        if owner.context.backend is not self._backend:
            raise ForeignHandle(
                f"{owner!r} is of another machine than {self!r}: copy it through host memory"
            )
        return memory.span()

    def _reached(self, memory: Memory) -> Span:
        """The span of memory that a kernel of this context touches."""
        span = self._span(memory)
        owner = memory.buffer if isinstance(memory, Part) else memory
        if not owner.kernel_access:
            way = ", or allocate it with mapped=True" if span.kind is MemoryKind.PINNED else ""
            raise AccessRefused(
                f"{owner.name} is {span.kind.value} memory, which kernels cannot reach: copy it to "
                f"device memory first{way}"
            )
        here = self.context.device.number
        if span.kind.on_device and span.device not in (here, *self.context.peers):
            raise AccessRefused(
                f"{owner.name} is memory of device {span.device}, which kernels on device {here} "
                f"cannot reach: let device {here} do so, with "
                "context.enable_peer_access(the other's context)"
            )
        return span


def checked_memory(where: str, memory: Any) -> Memory:
    """A buffer, or a part of one."""
    if not isinstance(memory, Buffer | Part):
        is_tensor = hasattr(memory, "part")
        refuse(where, memory, "give tensor.part" if is_tensor else "give a buffer or a part of one")
    found: Memory = memory
    return found


def _listed(where: str, given: Any, default: Sequence[Memory]) -> Sequence[Memory]:
    """Memory that a call touches, each a buffer or a part of one."""
    if given is None:
        return default
    checked(where, given, (list, tuple), "give a list of buffers and parts of them")
    return [checked_memory(f"{where}[{number}]", each) for number, each in enumerate(given)]
