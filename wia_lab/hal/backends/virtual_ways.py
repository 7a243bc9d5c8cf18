"""Which way bytes go in a virtual machine, and how long pages take that somebody waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.hal.backends.virtual_storage import place_of
from wia_lab.timeline import Route

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wia_lab.hal.backends.base import Span
    from wia_lab.hal.backends.pages import Move, Place
    from wia_lab.timeline import VirtualMachine

HOST_COPY = Route("host memory", 20e9, 1e-6, ())
"""A copy by the processor: an order of magnitude, for timelines."""


class Ways:
    """The ways of one machine, and between which of its devices copies go straight."""

    def __init__(self, machine: VirtualMachine) -> None:
        self._machine = machine
        self._enabled: set[frozenset[int]] = set()  # pairs of which one was let reach the other

    def enable(self, device: int, peer: int) -> None:
        """Copies between the two, either way, go straight from now on."""
        self._enabled.add(frozenset((device, peer)))

    def is_straight(self, device: int, peer: int) -> bool:
        """Whether copies between the two keep out of host memory, as far as access decides it."""
        return device == peer or frozenset((device, peer)) in self._enabled

    def route(self, target: Span, source: Span) -> Route:
        """The way of a copy."""
        nodes = (source.storage.numa_node, target.storage.numa_node)
        node = next((each for each in nodes if each is not None), None)
        places = place_of(source), place_of(target)
        buffers = source.kind.on_device and target.kind.on_device  # pages are the driver's to move
        enabled = not buffers or self.is_straight(source.device, target.device)
        return self.link(*places, node, enabled=enabled)

    def link(
        self, source: Place, target: Place, node: int | None = None, *, enabled: bool = True
    ) -> Route:
        """The way from a place to another; host memory is on socket `node`."""
        if source is not None and target is not None:
            return self._machine.peer_route(source, target, enabled=enabled)
        if target is not None:
            return self._machine.host_route(target, upload=True, numa_node=node)
        if source is not None:
            return self._machine.host_route(source, upload=False, numa_node=node)
        return HOST_COPY

    def reaches(self, place: Place, other: Place) -> bool:
        """Whether a place can use memory of another without moving it."""
        if place is None:
            return False
        return other is None or self._machine.can_access(place, other)

    def faults(self, place: Place, reads: Iterable[Span], writes: Iterable[Span]) -> int:
        """Nanoseconds that a place waits for the pages that it touches."""
        return sum(
            self.time(span.storage.pages.touch(place, span.low, span.high, writes=is_write))
            for spans, is_write in ((reads, False), (writes, True))
            for span in spans
            if span.storage.pages is not None
        )

    def in_place(self, device: int, reads: Iterable[Span], writes: Iterable[Span]) -> int:
        """Nanoseconds that the link needs for pinned memory that a kernel uses where it is.

        Each byte goes once, and what is read goes beside what is written: the link has a way each.
        """

        def taken(spans: Iterable[Span], source: Place, target: Place) -> int:
            return sum(
                self.link(source, target, span.storage.numa_node).duration(span.high - span.low)
                for span in spans
                if span.kind.host_access and span.storage.pages is None
            )

        return max(taken(reads, None, device), taken(writes, device, None))

    def time(self, moves: Iterable[Move]) -> int:
        """Nanoseconds that pages take to move, one after the other."""
        return sum(self.link(each.source, each.target).duration(each.nbytes) for each in moves)
