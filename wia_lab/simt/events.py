"""What the scheduler reports, and the listener that hears it.

The scheduler runs a chunk of blocks in lockstep: a *lane* is one thread's place in the chunk's
vectors. Blocks are padded to whole warps, so lane l belongs to block `chunk.first_block +
l // chunk.stride`, to thread `l % chunk.stride` of it, and to warp `l // 32` of the chunk. Lanes
that pad a block are never active. An event concerns all lanes of a group at once, never one lane:
a listener that loops over lanes in Python is too slow.

The scheduler knows nothing of counters, hazards or pictures. A listener overrides the hooks that
it needs; each has an empty default. Arrays in an event are never written afterwards, so a listener
may keep them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from wia_lab.simt.memory import Space

Lanes = np.ndarray
"""One value a lane of the chunk."""


@dataclass(frozen=True, slots=True)
class Site:
    """One place in the source that touches memory, branches or synchronises.

    `number` is dense from 0 within a launch, so listeners may index arrays by it.
    """

    number: int
    line: int
    file: str
    function: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """The blocks that run together in lockstep."""

    first_block: int  # linear index of the first block, x fastest
    blocks: int
    stride: int  # lanes a block: its threads rounded up to whole warps
    threads: int  # threads a block
    full: Lanes  # bool: lanes that are threads, not padding

    @property
    def lanes(self) -> int:
        """Lanes in all, padding included."""
        return self.blocks * self.stride


@dataclass(frozen=True, slots=True)
class Launch:
    """What was launched; one a `simulate()`."""

    kernel: str
    file: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    sites: tuple[Site, ...]
    has_fences: (
        bool  # the program holds a thread fence: plain barriers do not tell all of the order
    )
    device: str

    def thread_name(self, chunk: Chunk, lane: int) -> str:
        """`thread 5 of block 2`, with as many coordinates as the launch has."""
        block, thread = chunk.first_block + lane // chunk.stride, lane % chunk.stride
        return (
            f"thread {_coordinates(thread, self.block)} of block {_coordinates(block, self.grid)}"
        )


def _coordinates(linear: int, extent: tuple[int, int, int]) -> str:
    x, rest = linear % extent[0], linear // extent[0]
    y, z = rest % extent[1], rest // extent[1]
    if extent[2] > 1:
        return f"({x}, {y}, {z})"
    return f"({x}, {y})" if extent[1] > 1 else str(x)


@dataclass(frozen=True, slots=True)
class Access:
    """One load, store or atomic, executed by the active lanes of a group.

    It is reported before the memory changes; an atomic after, as `changed` must be known. Lanes out
    of bounds have been taken out of `active`.
    `offsets` are bytes from the start of `space.data`; those of inactive lanes mean nothing, but
    stay inside `space.data`. `values` is what a plain store writes (one a lane, or one for all).
    """

    kind: Literal["load", "store", "atomic"]
    space: Space
    offsets: Lanes  # int64
    nbytes: int  # bytes a lane: 1, 2, 4, 8, 16, or a record's size
    active: Lanes  # bool
    site: Site
    values: Lanes | np.generic | None = None
    changed: Lanes | None = None  # atomics: lanes whose operation changed the cell
    operation: str = ""  # atomics: "add", "cas", ...


@dataclass(frozen=True, slots=True)
class OutOfBounds:
    """Lanes whose index left the array. A store by them is dropped, a load gives zero."""

    space: Space
    lanes: Lanes  # bool
    indices: tuple[Lanes, ...]  # int64, one array a dimension, as written in the source
    shape: tuple[Lanes | int, ...]
    site: Site
    is_store: bool


@dataclass(frozen=True, slots=True)
class AsyncCopy:
    """One cp.async: lanes copy `nbytes` each, global to shared.

    Lanes in `zero_filled` read nothing: zeros arrive (the instruction's source size is 0). `number`
    is dense from 0 within a chunk and names the copy in later events.
    """

    number: int
    source: Space
    source_offsets: Lanes
    destination: Space
    destination_offsets: Lanes
    nbytes: int
    active: Lanes
    zero_filled: Lanes
    site: Site


class Listener:
    """Hears a launch. Counters, hazards and pictures override the hooks they need."""

    def on_launch(self, launch: Launch) -> None:
        """The launch begins; no block has run."""

    def on_chunk(self, chunk: Chunk) -> None:
        """A chunk begins. Its shared and local spaces are fresh, and uninitialised."""

    def on_segment(self, segment: object, active: Lanes) -> None:
        """A straight piece of code runs; `segment.operations` counts its instructions by line."""

    def on_access(self, access: Access) -> None:
        """One load, store or atomic of all active lanes, before it takes effect."""

    def on_declare(self, space: Space, lanes: Lanes, site: Site) -> None:
        """Lanes declare a local array, at first or anew: from here on its content is undefined."""

    def on_out_of_bounds(self, event: OutOfBounds) -> None:
        """Lanes indexed outside an array."""

    def on_negative_index(self, space: Space, lanes: Lanes, indices: Lanes, site: Site) -> None:
        """Lanes indexed with a negative number that Numba wraps, as it does on hardware."""

    def on_branch(self, site: Site, taken: Lanes, fallen: Lanes) -> None:
        """A branch whose condition differs a lane: lanes that went one way, and the other.

        Also reported where within no warp both ways were taken; then no warp diverged.
        """

    def on_barrier(self, site: Site, lanes: Lanes) -> None:
        """All live lanes of some blocks met at a block barrier and are released."""

    def on_grid_barrier(self, site: Site, lanes: Lanes) -> None:
        """All live lanes of the grid met."""

    def on_warp_sync(self, site: Site, lanes: Lanes, members: Lanes, name: str) -> None:
        """A warp operation ran: `lanes` executed it; `members` is each lane's uint32 mask.

        Every one of them (syncwarp, shuffles, votes, match) orders memory among its members.
        """

    def on_fence(
        self, site: Site, lanes: Lanes, scope: Literal["block", "device", "system"]
    ) -> None:
        """Lanes executed a thread fence."""

    def on_divergent_barrier(
        self, sites: tuple[Site, ...], waiting: Lanes, missing: Lanes, reason: str
    ) -> None:
        """A barrier or warp operation that cannot be met.

        `reason` is "exited" (lanes went around it and ended), "returned" (they left by an early
        return), "elsewhere" (they wait at another site, in `sites[1:]`) or "copied" (they came to
        two compiled copies of one source barrier).
        """

    def on_async_copy(self, copy: AsyncCopy) -> None:
        """Lanes issued an asynchronous copy."""

    def on_async_commit(self, site: Site, lanes: Lanes, copies: dict[int, Lanes]) -> None:
        """Lanes closed a group; `copies` maps each copy's number to its lanes now committed."""

    def on_async_wait(self, site: Site, lanes: Lanes, arrived: dict[int, Lanes]) -> None:
        """Lanes waited; `arrived` maps each copy's number to its lanes that have now landed.

        Landed data is seen by the lane that copied it; others need a barrier after the wait.
        """

    def on_no_progress(self, site: Site, lanes: Lanes, rescued: bool) -> None:
        """Lanes spin. `rescued`: they went on, as a lane of the same warp freed them."""

    def on_arithmetic_fault(self, site: Site, lanes: Lanes) -> None:
        """Lanes divided by zero."""

    def on_unset(self, site: Site, lanes: Lanes, variable: str) -> None:
        """Lanes read a variable that no statement they passed had set."""

    def on_chunk_end(self, chunk: Chunk) -> None:
        """Every lane of the chunk has ended."""

    def on_end(self) -> None:
        """Every block has run."""


class Broadcast(Listener):
    """Hands every event to several listeners, in order; hooks nobody overrides cost nothing."""

    def __init__(self, listeners: list[Listener]) -> None:
        for name in (hook for hook in vars(Listener) if hook.startswith("on_")):
            hooks = [
                getattr(each, name)
                for each in listeners
                if getattr(type(each), name) is not getattr(Listener, name)
            ]
            setattr(self, name, _fan_out(hooks))


def _fan_out(hooks: list[Callable[..., None]]) -> Callable[..., None]:
    if len(hooks) == 1:
        return hooks[0]

    def call(*event: object) -> None:
        for hook in hooks:
            hook(*event)

    return call
