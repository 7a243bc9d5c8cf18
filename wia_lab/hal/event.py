"""Events (§3.4): marks in streams, by which streams and the host wait, and time is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.hal.checks import Single, checked, checked_context, checked_name, checked_timeout
from wia_lab.hal.errors import ForeignHandle, NotReady, TimedOut

if TYPE_CHECKING:
    from wia_lab.hal.context import Context


class Event(Single):
    """A mark in a stream; recording it again moves it."""

    def __init__(self, context: Context, name: str = "event") -> None:
        self.context: Context = checked_context("Event: context", context)
        self.name = checked_name("Event: name", name, needed=True)
        self.handle = context.backend.create_event(name)

    def __repr__(self) -> str:
        return f"<{self.name}{'' if self.is_recorded else ', never recorded'}>"

    @property
    def is_recorded(self) -> bool:
        """Whether it was ever recorded."""
        return bool(self.handle.is_recorded)

    @property
    def is_done(self) -> bool:
        """Whether what it marks has ended by now."""
        self.check_recorded("asked for")
        return self.context.backend.query(self.handle)

    def synchronize(self, *, timeout: float | None = None) -> None:
        """Let the host wait for it, as `Stream.synchronize` does for a stream."""
        self.check_recorded("waited for")
        given = checked_timeout("synchronize: timeout", timeout)
        allowed = self.context.timeout if given is None else given
        if not self.context.wait_for(self.handle, allowed):
            raise TimedOut(f"{self!r} did not happen within {allowed} s: wait longer")

    def seconds_since(self, earlier: Event) -> float:
        """Seconds on the machine's clock from `earlier` to this event.

        Raises
        ------
        NotReady
            When either has not happened yet.
        """
        way = "give the event from which to count"
        checked("seconds_since: earlier", earlier, Event, way).check_machine(self.context)
        for event in (earlier, self):
            if not event.is_done:
                raise NotReady(f"{event!r} has not happened yet: synchronise with it first")
        return self.context.backend.elapsed(earlier.handle, self.handle)

    def check_machine(self, context: Context) -> None:
        """Refuse an event of another machine."""
        context.check_open()
        if self.context.backend is not context.backend:
            raise ForeignHandle(
                f"{self!r} is of another machine than {context!r}: record one of the same machine"
            )

    def check_recorded(self, what: str) -> None:
        """Refuse an event that was never recorded."""
        self.context.check_open()
        if not self.is_recorded:
            raise NotReady(
                f"{self!r} is {what}: record it first, in the stream whose work it marks"
            )
