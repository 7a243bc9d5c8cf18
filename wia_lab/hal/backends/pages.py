"""Where the pages of unified and managed memory live, and when they move.

A page is where it was first touched, or preferred. Whoever touches it elsewhere makes it come, if
no advice says otherwise. Rules as in the CUDA programming guide's chapter on unified memory; the
host cannot map a device's memory, a device can map the host's, and a peer's that it can access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from wia_lab.hal.advice import Advice, Migrations

PAGE = 2 << 20
"""Bytes that move together: the largest piece in which the driver moves memory."""

Place = int | None
"""A device's number, or None for the host."""


@dataclass(frozen=True, slots=True)
class Move:
    """Bytes that go from one place to another."""

    source: Place
    target: Place
    nbytes: int


@dataclass(slots=True)
class Pages:
    """The pages of one buffer.

    `reaches(a, b)` tells whether `a` can use memory in `b` over a link.
    """

    nbytes: int
    reaches: Callable[[Place, Place], bool]
    read_mostly: bool = False
    preferred: tuple[Place] | None = None  # a tuple, as None is a place
    accessed_by: set[Place] = field(default_factory=set)
    migrations: Migrations = field(default_factory=Migrations)
    _holders: dict[int, set[Place]] = field(default_factory=dict)

    def advise(self, advice: Advice, place: Place) -> None:
        """Take one more piece of advice."""
        if advice is Advice.READ_MOSTLY:
            self.read_mostly = True
        elif advice is Advice.PREFERRED_LOCATION:
            self.preferred = (place,)
        else:
            self.accessed_by.add(place)

    def where(self, low: int) -> Place:
        """Where the page of byte `low` is; the host before anybody has touched it."""
        holders = self._holders.get(low // PAGE) or {None}
        return None if None in holders else min(each for each in holders if each is not None)

    def touch(self, place: Place, low: int, high: int, *, writes: bool) -> list[Move]:
        """`place` reads or writes bytes `low` to `high`; the moves that it must wait for."""
        moves = [
            move
            for page in range(low // PAGE, -(-high // PAGE))
            if (move := self._touched(page, place, writes=writes)) is not None
        ]
        self._count(moves, faults=len(moves))
        return moves

    def missing(self, place: Place, low: int, high: int) -> list[Move]:
        """The moves that bring bytes `low` to `high` to `place`; none is made yet."""
        return [
            Move(self.where(page * PAGE), place, self._size(page))
            for page in range(low // PAGE, -(-high // PAGE))
            if self._holders.get(page) and place not in self._holders[page]
        ]

    def bring(self, place: Place, low: int, high: int) -> None:
        """The pages of bytes `low` to `high` are at `place` now, as was asked for ahead."""
        moves = self.missing(place, low, high)
        for page in range(low // PAGE, -(-high // PAGE)):
            holders = self._holders.setdefault(page, set())
            if not self.read_mostly:
                holders.clear()
            holders.add(place)
        self._count(moves, prefetched=len(moves))

    def _touched(self, page: int, place: Place, *, writes: bool) -> Move | None:
        holders = self._holders.setdefault(page, set())
        if not holders:
            first = place
            if self.preferred and self._can_use(place, self.preferred[0]):
                first = self.preferred[0]
            holders.add(first)
        elif place not in holders and not self._stays(place, holders):
            move = Move(self.where(page * PAGE), place, self._size(page))
            if writes or not self.read_mostly:
                holders.clear()
            holders.add(place)
            return move
        if writes and place in holders:
            holders.intersection_update({place})
        return None

    def _stays(self, place: Place, holders: set[Place]) -> bool:
        """Whether `place` uses the page where it is."""
        near = {each for each in holders if self.reaches(place, each)}
        at_home = self.preferred is not None and self.preferred[0] in near
        return at_home or (place in self.accessed_by and bool(near))

    def _can_use(self, place: Place, other: Place) -> bool:
        return place == other or self.reaches(place, other)

    def _size(self, page: int) -> int:
        return min(PAGE, self.nbytes - page * PAGE)

    def _count(self, moves: list[Move], *, faults: int = 0, prefetched: int = 0) -> None:
        so_far = self.migrations
        self.migrations = replace(
            so_far,
            faults=so_far.faults + faults,
            prefetched=so_far.prefetched + prefetched,
            nbytes=so_far.nbytes + sum(move.nbytes for move in moves),
        )

    def __iter__(self) -> Iterator[Place]:
        """Where each page is."""
        return (self.where(low) for low in range(0, self.nbytes, PAGE))
