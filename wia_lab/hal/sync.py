"""Synchronisation beyond one stream (§3.8): fences with a timeout, barriers over any devices.

Streams, events and contexts wait by their own `synchronize`; what is here joins several of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wia_lab.hal.checks import (
    Single,
    checked,
    checked_context,
    checked_name,
    checked_timeout,
    refuse,
)
from wia_lab.hal.errors import ForeignHandle, InvalidValue, TimedOut
from wia_lab.hal.event import Event
from wia_lab.hal.stream import Stream
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.hal.context import Context

TIMEOUT_INFINITE: float = float("inf")
"""A wait without end, whatever the context's timeout is."""


class Fence(Single):
    """Tells the host when all work submitted before it, to any number of streams, has ended.

    A fence that was put behind nothing is passed at once.
    """

    def __init__(self, context: Context, name: str = "fence") -> None:
        self.context: Context = checked_context("Fence: context", context)
        self.name = checked_name("Fence: name", name, needed=True) or ""
        self._events: list[Event] = []

    def __repr__(self) -> str:
        return f"<{self.name} behind {counted(len(self._events), 'stream')}>"

    def submit(self, *streams: Stream) -> None:
        """Put it behind what was submitted so far to `streams`, and to those given before."""
        for number, stream in enumerate(streams):
            check_stream(f"Fence.submit: argument {number}", stream, self.context)
        for stream in streams:
            self._events.append(stream.record(Event(stream.context, self.name)))

    @property
    def is_passed(self) -> bool:
        """Whether all of it has ended by now."""
        return all(event.is_done for event in self._events)

    def wait(self, timeout: float | None = None) -> None:
        """Block the host until it is passed, at most `timeout` seconds in all.

        None stands for the context's timeout.

        Raises
        ------
        TimedOut
            When that did not do. The work goes on, and the fence can be waited for again.
        """
        self.context.check_open()
        given = checked_timeout("Fence.wait: timeout", timeout)
        allowed = self.context.timeout if given is None else given
        if allowed is None or allowed == TIMEOUT_INFINITE:
            for event in self._events:
                event.context.wait_for(event.handle, None)
            return
        backend = self.context.backend
        deadline = backend.now() + allowed
        for number, event in enumerate(self._events):
            left = max(0.0, deadline - backend.now())
            if not event.context.wait_for(event.handle, left):
                raise TimedOut(
                    f"{self!r} was not passed within {allowed} s: {len(self._events) - number} of "
                    "its streams were still at work; wait longer"
                )


class PeerBarrier(Single):
    """Lets no stream of a group go on before all have come to it. The host does not block.

    Every stream waits for an event of every other, on its device: nothing blocks that a host must
    wake, so that no order of waiting can lock up.

    Parameters
    ----------
    streams : sequence of Stream
        At least two, of any devices of one machine.
    """

    def __init__(self, streams: Sequence[Stream]) -> None:
        if not isinstance(streams, list | tuple):
            refuse("PeerBarrier: streams", streams, "give a list, as in [a, b]")
        for number, stream in enumerate(streams):
            first = streams[0].context if number else None
            check_stream(f"PeerBarrier: streams[{number}]", stream, first)
        if len(streams) < 2 or len(set(map(id, streams))) != len(streams):
            raise InvalidValue(
                f"a barrier over {counted(len(streams), 'stream')}: give two or more, each once"
            )
        self.streams = tuple(streams)

    def __repr__(self) -> str:
        return f"<barrier over {', '.join(stream.name for stream in self.streams)}>"

    def wait(self) -> None:
        """Hold what each stream is given from now on until all that was given before is done."""
        events = [stream.record() for stream in self.streams]
        for stream in self.streams:
            for other, event in zip(self.streams, events, strict=True):
                if other is not stream:
                    stream.wait(event)


def check_stream(where: str, stream: object, context: Context | None) -> None:
    """Refuse what is no stream, was closed, or is of another machine than the context, if any."""
    found = checked(where, stream, Stream, "give one that context.create_stream() made")
    found.check_open()
    if context is not None and found.context.backend is not context.backend:
        raise ForeignHandle(
            f"{where}: {found!r} is of another machine than {context!r}: give streams of one "
            "machine"
        )
