"""Reference counting: a buffer lives as long as someone holds it.

`Counted` allocates buffers and hands out strong handles. The last `release` frees the block *in
stream order*: the count says what the host still needs, the stream says what the device does.
A weak handle finds out whether the buffer is still there; nobody brings it back once its count
has been zero. What counts cannot see (cycles, owners that vanished) `gc` collects.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from wia_lab.errors import ReleasedError
from wia_lab.memory.base import Allocator, require
from wia_lab.memory.cycles import unreachable

if TYPE_CHECKING:
    from wia_lab.memory.block import Block, Stream

__all__ = ["Collected", "Counted", "Strong", "Weak"]


class _Cell:
    """What all handles of one buffer share."""

    __slots__ = ("block", "count", "holds", "owners", "pool")

    def __init__(self, pool: Counted, block: Block) -> None:
        self.pool = pool
        self.block: Block | None = block
        self.count = 1
        self.holds: list[_Cell] = []  # buffers that this one keeps alive, one entry a hold
        self.owners: list[weakref.ref[Any]] = []  # each stands for one of the counts


class Weak:
    """A handle that does not keep its buffer alive."""

    __slots__ = ("_cell",)

    def __init__(self, cell: _Cell) -> None:
        self._cell = cell

    @property
    def is_alive(self) -> bool:
        """Whether the buffer is still there."""
        return self._cell.count > 0

    def lock(self) -> Strong | None:
        """Return a strong handle, one count more, or None when the buffer is gone."""
        if not self.is_alive:
            return None
        self._cell.count += 1
        return Strong(self._cell)


class Strong:
    """A handle that keeps its buffer alive until it is released. Use `with`, or `release`.

    A handle stands for one count of its own: `retain` makes another handle, and releasing one
    handle twice is an error whatever the others do.
    """

    __slots__ = ("_cell", "_released")

    def __init__(self, cell: _Cell) -> None:
        self._cell = cell
        self._released = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._released:
            self.release()

    @property
    def block(self) -> Block:
        """The buffer's block."""
        block = self._live().block
        assert block is not None
        return block

    @property
    def count(self) -> int:
        """How many strong handles, holds and owners the buffer has."""
        return self._cell.count

    def retain(self) -> Strong:
        """Return another strong handle on the same buffer."""
        cell = self._live()
        cell.count += 1
        return Strong(cell)

    def release(self, stream: Stream | None = None) -> None:
        """Give this handle up; the last one frees the block once `stream` has passed."""
        cell = self._live()
        self._released = True
        cell.pool.drop(cell, stream)

    def weak(self) -> Weak:
        """Return a handle that does not keep the buffer alive."""
        return Weak(self._live())

    def hold(self, other: Strong) -> None:
        """Let this buffer keep another alive, as a table of pointers does what it points to."""
        mine, its = self._live(), other._live()
        mine.holds.append(its)
        its.count += 1

    def let_go(self, other: Strong) -> None:
        """Undo one `hold`."""
        mine, its = self._live(), other._live()
        if its not in mine.holds:
            raise ReleasedError(f"{its.block!r} is not held by {mine.block!r}: hold it first")
        mine.holds.remove(its)
        mine.pool.drop(its, None)

    def own(self, owner: object) -> Weak:
        """Hand this handle's count to `owner`: once that object is gone, `gc` drops it."""
        cell = self._live()
        cell.owners.append(weakref.ref(owner))
        self._released = True
        return Weak(cell)

    def _live(self) -> _Cell:
        if self._released:
            raise ReleasedError(
                f"this handle of a buffer of {self._size()} was released: retain it before, or "
                "lock a weak handle"
            )
        return self._cell

    def _size(self) -> str:
        block = self._cell.block
        return f"{block.size:,} B" if block is not None else "a freed block"


@dataclass(frozen=True, slots=True)
class Collected:
    """What one `gc` gave back, in bytes; the last field comes from caches below."""

    owner_bytes: int
    cycle_bytes: int
    cached_bytes: int

    @property
    def total_bytes(self) -> int:
        """All of it."""
        return self.owner_bytes + self.cycle_bytes + self.cached_bytes


class Counted:
    """Allocate buffers whose handles are counted.

    Parameters
    ----------
    upstream : Allocator
        Where blocks come from and go back to; put a `Pool` or `StreamOrdered` here so that a
        block released on a stream is not reused before that stream has passed.
    """

    def __init__(self, upstream: Allocator) -> None:
        self.upstream = upstream
        self._cells: dict[int, _Cell] = {}

    def create(self, size: int, *, stream: Stream | None = None) -> Strong:
        """Return a new buffer with a count of one."""
        cell = _Cell(self, self.upstream.allocate(size, stream=stream))
        self._cells[id(cell)] = cell
        return Strong(cell)

    def drop(self, cell: _Cell, stream: Stream | None) -> None:
        """Take one count off; at zero free the block, and then what it held."""
        pending = [cell]
        while pending:
            dying = pending.pop()
            dying.count -= 1
            if dying.count == 0:
                pending.extend(self._destroy(dying, stream))

    def _destroy(self, cell: _Cell, stream: Stream | None) -> list[_Cell]:
        """Free a buffer's block; return what it held."""
        block, held = cell.block, cell.holds
        assert block is not None
        cell.block, cell.holds, cell.count = None, [], 0
        cell.owners.clear()
        del self._cells[id(cell)]
        self.upstream.free(block, stream=stream)
        return held

    def gc(self) -> Collected:
        """Collect what counting cannot: vanished owners' shares, cycles, cached blocks."""
        before = self.live_bytes
        for cell in list(self._cells.values()):
            gone = [ref for ref in cell.owners if ref() is None]
            for ref in gone:
                cell.owners.remove(ref)
                self.drop(cell, None)
        after_owners = self.live_bytes
        self._collect_cycles()
        after_cycles = self.live_bytes
        cached = self.upstream.trim()
        return Collected(before - after_owners, after_owners - after_cycles, cached)

    def _collect_cycles(self) -> None:
        """Free the buffers that only unreachable buffers hold."""
        garbage = unreachable(
            self._cells.values(), count=lambda c: c.count, holds=lambda c: c.holds
        )
        outside = [held for cell in garbage for held in cell.holds if held not in garbage]
        for cell in garbage:
            self._destroy(cell, None)
        for held in outside:
            self.drop(held, None)

    @property
    def live_bytes(self) -> int:
        """Bytes of the buffers that are alive."""
        return sum(block.size for block in self.blocks())

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the buffers that are alive."""
        return iter([cell.block for cell in self._cells.values() if cell.block is not None])

    def check(self) -> None:
        """Raise InvariantError unless every count covers what is known to hold its buffer."""
        held: dict[int, int] = {}
        for cell in self._cells.values():
            require(cell.count > 0, "a buffer of count zero was not freed")
            require(cell.block is not None, "a counted buffer has no block")
            for other in cell.holds:
                held[id(other)] = held.get(id(other), 0) + 1
                require(id(other) in self._cells, "a freed buffer is held")
        for key, cell in self._cells.items():
            known = held.get(key, 0) + len(cell.owners)
            require(cell.count >= known, f"{known} holds, but a count of {cell.count}")
        live = set(self.upstream.blocks())
        require(set(self.blocks()) <= live, "a counted block is not live below")
