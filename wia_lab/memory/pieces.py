"""What a pool holds: pieces of upstream's memory, in bins by class and stream, lent as blocks."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from wia_lab.memory.block import Block, Event, Stream

if TYPE_CHECKING:
    from wia_lab.memory.pool import Pool

__all__ = ["Bin", "Piece", "Pooled", "new"]

new = object.__new__
"""Makes a `Pooled`, which has no constructor."""


class Bin:
    """The pieces of one class that were last used on one stream, least recently freed first."""

    __slots__ = ("kept", "number", "pool", "size", "stream")

    def __init__(self, pool: Pool, number: int, size: int, stream: Stream | None) -> None:
        self.pool = pool
        self.number = number
        self.size = size
        self.stream = stream
        self.kept: deque[Piece] = deque()


class Piece:
    """A block of upstream that the pool holds, lent out or kept."""

    __slots__ = ("age", "base", "bin", "event", "lent")

    def __init__(self, base: Block, bin_: Bin) -> None:
        self.base = base
        self.bin = bin_
        self.lent: Pooled | None = None  # the live block made of it
        self.age = 0  # when it was freed
        self.event: Event | None = None  # what must be done before another stream may use it

    @property
    def is_idle(self) -> bool:
        """Whether the work that last used it is done."""
        return self.event is None or self.event.is_done


class Pooled(Block):
    """A block of a pool. Making one is much of a hit's cost: it looks up what it does not hold.

    It has no constructor: whoever makes one with `new(Pooled)` sets its two slots.
    """

    __slots__ = ("piece",)

    piece: Piece

    offset = property(lambda self: self.piece.base.offset)
    size = property(lambda self: self.piece.bin.size)
    alignment = property(lambda self: self.piece.base.alignment)
    stream = property(lambda self: self.piece.bin.stream)
    owner = property(lambda self: self.piece.bin.pool)
