"""The nouns of the library: a block, a region of the address map, a stream, an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

__all__ = ["Block", "Event", "Explanation", "Region", "State", "Stream"]

State = Literal["live", "free", "cached", "deferred"]


@runtime_checkable
class Event(Protocol):
    """A mark in a stream's work: done once all that was submitted before it has run."""

    @property
    def is_done(self) -> bool:
        """Whether the work before the mark has finished. Does not block."""


@runtime_checkable
class Stream(Protocol):
    """Work that runs in order. Allocators compare streams by identity and hash."""

    def record(self) -> Event:
        """Return an event that is done when all work submitted so far is."""


class Block:
    """A run of bytes that an allocator handed out. Free it with that allocator.

    Attributes
    ----------
    offset, size : int
        Where it starts, in bytes from the start of the heap, and how long it is as granted.
    requested : int
        Bytes asked for; at most `size`.
    alignment : int
        What the offset is a multiple of, also after a compaction.
    owner : object
        The allocator that handed it out and that takes it back.
    stream : object or None
        The stream it was allocated for.
    """

    __slots__ = ("__weakref__", "alignment", "offset", "owner", "requested", "size", "stream")

    def __init__(
        self,
        offset: int,
        size: int,
        requested: int,
        owner: Any,
        alignment: int = 1,
        stream: Stream | None = None,
    ) -> None:
        self.offset = offset
        self.size = size
        self.requested = requested
        self.owner = owner
        self.alignment = alignment
        self.stream = stream

    @property
    def end(self) -> int:
        """The first byte behind the block."""
        return self.offset + self.size

    def __repr__(self) -> str:
        return f"<Block {self.offset:#x} +{self.size:,} B of {type(self.owner).__name__}>"


@dataclass(frozen=True, slots=True)
class Region:
    """One stretch of the address map: `size` bytes from `offset`, all in one state."""

    offset: int
    size: int
    state: State
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where the next request of a size would go, or why it would fail. Nothing is changed.

    Attributes
    ----------
    requested, granted : int
        Bytes asked for, and as rounded by the allocator.
    fits : bool
        Whether the request would be served now.
    offset : int or None
        Where it would go, when that is known without asking below.
    reason : str
        One sentence.
    """

    requested: int
    granted: int
    fits: bool
    offset: int | None
    reason: str

    def __str__(self) -> str:
        return self.reason
