"""One memory access of one warp, found in a report: the base of the pictures of a warp.

The launch is run again on copies of its arguments, until the warp comes to the access asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.errors import WiaLabError
from wia_lab.simt.counters import widest_global
from wia_lab.simt.stepping import Enough, Follower

if TYPE_CHECKING:
    from wia_lab.simt.events import Access, AsyncCopy, Chunk, Launch, Site
    from wia_lab.simt.memory import Space
    from wia_lab.simt.report import Report

WARP = 32
WIDEST = 16  # bytes


@dataclass(frozen=True)
class WarpAccess:
    """One load, store, atomic or asynchronous copy of a warp.

    `addresses` are bytes on the device or in the block's shared memory, one a lane, None where
    the lane is idle; `start` is the address of the array's first element; `widest`, the bytes a
    lane that one instruction can take.
    """

    kind: str  # "load", "store", "atomic", "async copy"
    array: str
    line: int
    nbytes: int
    addresses: tuple[int | None, ...]
    start: int
    widest: int = WIDEST

    @property
    def lanes(self) -> list[tuple[int, int]]:
        """(lane, address) of the active lanes."""
        return [(lane, at) for lane, at in enumerate(self.addresses) if at is not None]

    @property
    def what(self) -> str:
        """`line 7: load of a, 4 bytes a lane`."""
        unit = "byte" if self.nbytes == 1 else "bytes"
        return f"line {self.line}: {self.kind} of {self.array}, {self.nbytes} {unit} a lane"


@dataclass(frozen=True)
class Wanted:
    """Which access: its kind, its array, its source line; None takes any."""

    kind: str | None = None
    array: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        kind = f"{self.kind} " if self.kind else ""
        of = f" of {self.array}" if self.array else ""
        return kind + "access" + of + (f" on line {self.line}" if self.line else "")


class _Finder(Follower):
    """Hears the launch until one warp makes the access wanted."""

    def __init__(self, space: str, wanted: Wanted, block: int, warp: int, skip: int) -> None:
        self.space, self.wanted = space, wanted
        self.block, self.warp, self.skip = block, warp, skip
        self.found: WarpAccess | None = None

    def on_launch(self, launch: Launch) -> None:
        blocks = int(np.prod(launch.grid))
        warps = -(-int(np.prod(launch.block)) // WARP)
        if not (0 <= self.block < blocks and 0 <= self.warp < warps):
            raise WiaLabError(
                f"block {self.block}, warp {self.warp}: the launch has blocks 0 to {blocks - 1} "
                f"and warps 0 to {warps - 1} in each"
            )

    def on_chunk(self, chunk: Chunk) -> None:
        first = (self.block - chunk.first_block) * chunk.stride + self.warp * WARP
        inside = chunk.first_block <= self.block < chunk.first_block + chunk.blocks
        self.lanes = slice(first, first + WARP) if inside else slice(0)

    def on_chunk_end(self, chunk: Chunk) -> None:  # noqa: ARG002 - a hook
        if self.lanes != slice(0):
            raise Enough  # the warp has ended

    def on_access(self, access: Access) -> None:
        self._see(
            access.kind, access.space, access.offsets, access.nbytes, access.active, access.site
        )

    def on_async_copy(self, copy: AsyncCopy) -> None:
        for space, offsets, active in (
            (copy.source, copy.source_offsets, copy.active & ~copy.zero_filled),
            (copy.destination, copy.destination_offsets, copy.active),
        ):
            self._see("async copy", space, offsets, copy.nbytes, active, copy.site)

    def _see(
        self,
        kind: str,
        space: Space,
        offsets: np.ndarray,
        nbytes: int,
        active: np.ndarray,
        site: Site,
    ) -> None:
        wanted = (
            space.kind == self.space
            and self.wanted.kind in {None, kind}
            and self.wanted.array in {None, space.name}
            and self.wanted.line in {None, site.line}
        )
        if not wanted or not active[self.lanes].any():
            return
        if self.skip:
            self.skip -= 1
            return
        instance = 0 if space.kind == "global" else self.block_offset(space, offsets, active)
        start = space.base + space.origin
        self.found = WarpAccess(
            kind,
            space.name,
            site.line,
            nbytes,
            tuple(
                space.base + int(at) - instance if on else None
                for at, on in zip(offsets[self.lanes], active[self.lanes], strict=True)
            ),
            start,
            widest_global(space) if space.kind == "global" else WIDEST,
        )
        raise Enough

    def block_offset(self, space: Space, offsets: np.ndarray, active: np.ndarray) -> int:
        """Bytes from the first block's instance of a shared space to this block's."""
        first = int(offsets[self.lanes][active[self.lanes]][0])
        return first // space.stride * space.stride if space.stride else 0


def find(
    report: Report, space: str, wanted: Wanted, block: int, warp: int, skip: int
) -> WarpAccess | str:
    """The access wanted, or the sentence that says why there is none to be shown.

    Parameters
    ----------
    space
        "global" or "shared".
    block, warp
        Whose; blocks are counted with x fastest.
    skip
        How many such accesses to pass over first.
    """
    finder = _Finder(space, wanted, block, warp, skip)
    hear(report, finder)
    if finder.found is not None:
        return finder.found
    seen = skip - finder.skip
    times = f"only {seen}" if seen else "no"
    return (
        f"Warp {warp} of block {block} makes {times} {wanted} in {space} memory: there is nothing "
        "to draw."
    )


def hear(report: Report, listener: Follower) -> None:
    """Run a report's launch again for a listener."""
    replay: Any = report.extras.get("replay")
    if replay is None:
        raise WiaLabError("this report was made without its launch: draw what simulate() returned")
    replay.hear(listener)
