"""A small language for event sequences, as the scheduler reports them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from wia_lab.simt.events import Access, AsyncCopy, Chunk, Launch, OutOfBounds, Site
from wia_lab.simt.hazards import Hazard, Hazards
from wia_lab.simt.memory import Space

Who = int | Iterable[int]


class Trace:
    """A launch of `blocks` x `threads`, told step by step; lines are the sites' numbers.

    Lanes are numbered over the whole chunk, padding included. `lanes` of every step may be one
    lane, several, or None for all threads.
    """

    def __init__(
        self,
        blocks: int = 1,
        threads: int = 64,
        *,
        fences: bool = False,
        chunk: int | None = None,
        lines: int = 64,
        block: tuple[int, int, int] | None = None,
    ) -> None:
        self.sites = tuple(Site(n, n, "kernel.py", "kernel") for n in range(lines))
        self.threads, self.stride = threads, -(-threads // 32) * 32
        self.hazards = Hazards()
        self.chunk_blocks = chunk or blocks
        shape = block or (threads, 1, 1)
        self.hazards.on_launch(
            Launch("kernel", "kernel.py", (blocks, 1, 1), shape, self.sites, fences, "H200")
        )
        self._spaces = 0
        self._copies = 0
        self._open = False
        self.begin_chunk(0)

    def begin_chunk(self, first_block: int) -> None:
        """Let the blocks from `first_block` on run; ends the chunk before."""
        self._close()
        full = np.tile(np.arange(self.stride) < self.threads, self.chunk_blocks)
        self.chunk = Chunk(first_block, self.chunk_blocks, self.stride, self.threads, full)
        self.hazards.on_chunk(self.chunk)
        self._copies = 0
        self._open = True

    def _close(self) -> None:
        if self._open:
            self.hazards.on_chunk_end(self.chunk)
        self._open = False

    def end(self) -> list[Hazard]:
        """End the launch; returns what was found."""
        self._close()
        self.hazards.on_end()
        return self.hazards.found

    def space(
        self,
        kind: str = "global",
        name: str = "a",
        shape: int | tuple[int, ...] = 64,
        dtype: str = "int32",
        *,
        written: bool = True,
        granule: int | None = None,
    ) -> Space:
        """An array; shared ones have an instance a block, local ones one a lane."""
        shape = (shape,) if isinstance(shape, int) else shape
        item = np.dtype(dtype)
        nbytes = int(np.prod(shape)) * item.itemsize
        instances = {"shared": self.chunk_blocks, "local": self.chunk.lanes}.get(kind, 1)
        stride = -(-nbytes // 128) * 128 if kind in ("shared", "local") else nbytes
        strides = tuple(np.empty(shape, item).strides)
        self._spaces += 1
        return Space(
            kind,
            name,
            item,
            shape,
            strides,
            0,
            np.zeros(stride * instances, np.uint8),
            stride,
            0,
            granule or item.itemsize,
            written,
            0,
            self._spaces,
        )

    def lanes(self, who: Who | None) -> np.ndarray:
        """Bools, one a lane."""
        if who is None:
            return self.chunk.full.copy()
        active = np.zeros(self.chunk.lanes, bool)
        active[[who] if isinstance(who, int) else list(who)] = True
        return active

    def offsets(self, space: Space, index, active: np.ndarray) -> np.ndarray:
        """Byte offsets of elements; `index` is one for all, one a lane, or lane → element."""
        lane = np.arange(self.chunk.lanes)
        element = np.zeros(lane.size, np.int64)
        if isinstance(index, dict):
            for key, value in index.items():
                element[key] = value
        else:
            element[:] = index
        start = {"shared": lane // self.stride * space.stride, "local": lane * space.stride}
        where = start.get(space.kind, 0) + element * space.dtype.itemsize
        return np.where(active, where, 0).astype(np.int64)

    def access(self, kind: str, space: Space, index, line: int, who: Who | None = None, **more):
        active = self.lanes(who)
        offsets = self.offsets(space, index, active)
        self.hazards.on_access(
            Access(kind, space, offsets, space.dtype.itemsize, active, self.sites[line], **more)
        )
        return offsets, active

    def load(self, space: Space, index, line: int, who: Who | None = None) -> None:
        """Lanes load `space[index]`."""
        self.access("load", space, index, line, who)

    def store(self, space: Space, index, line: int, who: Who | None = None, value=0) -> None:
        """Lanes store; memory changes afterwards, as the scheduler does it."""
        values = np.asarray(value, space.dtype)
        values = values[()] if values.ndim == 0 else values
        offsets, active = self.access("store", space, index, line, who, values=values)
        view = space.view(space.dtype)
        view[offsets[active] // space.dtype.itemsize] = (
            values[active] if isinstance(values, np.ndarray) else values
        )

    def atomic(
        self,
        space: Space,
        index,
        line: int,
        who: Who | None = None,
        operation: str = "add",
        changed: Who | None = None,
    ) -> None:
        """Lanes do an atomic; `changed` are the lanes whose operation changed the cell."""
        self.access(
            "atomic",
            space,
            index,
            line,
            who,
            operation=operation,
            changed=self.lanes(who) if changed is None else self.lanes(changed),
        )

    def barrier(self, line: int, who: Who | None = None) -> None:
        """Blocks of `who` pass a barrier."""
        self.hazards.on_barrier(self.sites[line], self.lanes(who))

    def grid_barrier(self, line: int) -> None:
        """The grid passes a barrier."""
        self.hazards.on_grid_barrier(self.sites[line], self.lanes(None))

    def syncwarp(self, line: int, who: Who | None = None, mask: int = 0xFFFFFFFF) -> None:
        """Warp lanes meet."""
        active = self.lanes(who)
        members = np.full(active.size, mask, np.uint32)
        self.hazards.on_warp_sync(self.sites[line], active, members, "syncwarp")

    def fence(self, line: int, who: Who | None = None, scope: str = "device") -> None:
        """Lanes execute a fence."""
        self.hazards.on_fence(self.sites[line], self.lanes(who), scope)

    def copy(
        self,
        destination: Space,
        index,
        source: Space,
        source_index,
        line: int,
        who: Who | None = None,
        zero: Who = (),
    ) -> int:
        """Lanes issue an asynchronous copy of one element; returns its number."""
        active = self.lanes(who)
        number = self._copies
        self._copies += 1
        self.hazards.on_async_copy(
            AsyncCopy(
                number,
                source,
                self.offsets(source, source_index, active),
                destination,
                self.offsets(destination, index, active),
                destination.dtype.itemsize,
                active,
                self.lanes(zero),
                self.sites[line],
            )
        )
        return number

    def commit(self, line: int, *copies: int, who: Who | None = None) -> None:
        """Lanes commit copies as a group."""
        lanes = self.lanes(who)
        self.hazards.on_async_commit(self.sites[line], lanes, dict.fromkeys(copies, lanes))

    def wait(self, line: int, *copies: int, who: Who | None = None) -> None:
        """Lanes wait; `copies` have then landed."""
        lanes = self.lanes(who)
        self.hazards.on_async_wait(self.sites[line], lanes, dict.fromkeys(copies, lanes))

    def outside(self, space: Space, indices, line: int, who: Who, *, store: bool = False) -> None:
        """Lanes leave an array."""
        lanes = self.lanes(who)
        each = tuple(np.full(lanes.size, index, np.int64) for index in indices)
        self.hazards.on_out_of_bounds(
            OutOfBounds(space, lanes, each, space.shape, self.sites[line], store)
        )


@pytest.fixture(scope="session")
def trace() -> type[Trace]:
    """The class `Trace`."""
    return Trace
