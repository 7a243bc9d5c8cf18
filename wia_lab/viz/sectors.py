"""A warp's 32 lanes, the addresses that they ask for, and the 32-byte sectors that answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt.counters import pieces
from wia_lab.viz.access import WARP, Wanted, WarpAccess, find
from wia_lab.viz.picture import Picture, Sentence
from wia_lab.viz.svg import Canvas
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.simt.report import Report

SECTOR = 32  # bytes
MOST_SECTORS = 64  # drawn; every sector is counted
WIDTH, EDGE = 1000, 20


@dataclass(frozen=True)
class SectorMap(Picture):
    """One access of one warp to global memory.

    Attributes
    ----------
    access : WarpAccess
        Who asks for what.
    sectors : tuple of int
        Numbers of the sectors touched, in order: address // 32.
    used : int
        Distinct bytes that some lane asked for.
    requests, asked : int
        Instructions that the access takes, and the sectors that they ask for together: one asked
        for twice counts twice.
    """

    access: WarpAccess
    sectors: tuple[int, ...]
    used: int
    requests: int
    asked: int

    @property
    def moved(self) -> int:
        """Bytes that the sectors asked for hold."""
        return SECTOR * self.asked

    @property
    def wasted(self) -> int:
        """Bytes moved that no lane asked for."""
        return self.moved - self.used

    @property
    def fewest(self) -> int:
        """The fewest sectors that could hold the bytes used."""
        return -(-self.used // SECTOR)

    def headline(self) -> str:
        """The figures in one line."""
        count, lanes = self.asked, len(self.access.lanes)
        times = f" in {self.requests} requests" if self.requests > 1 else ""
        return (
            f"{counted(lanes, 'lane')}, "
            f"{counted(count, 'sector')}{times}: "
            f"{counted(self.moved, 'byte')} moved, {self.used:,} used, {self.wasted:,} wasted"
        )

    def __str__(self) -> str:
        lines = [
            f"{self.access.what}. {self.headline()}. The fewest that can hold them: {self.fewest}.",
        ]
        base = self.access.start
        for sector in self.sectors:
            low, high = sector * SECTOR, (sector + 1) * SECTOR
            lanes = [
                lane
                for lane, at in self.access.lanes
                if at < high and at + self.access.nbytes > low
            ]
            lines.append(
                f"sector of bytes {low - base:+,} to {high - 1 - base:+,}: {lane_ranges(lanes)}"
            )
        return "\n".join(lines)

    def drawing(self) -> str:
        """Lanes above, sectors below, a line from each lane to its bytes."""
        canvas = Canvas(WIDTH, 330)
        canvas.text(EDGE, 22, self.access.what, size=17, bold=True)
        canvas.text(EDGE, 46, self.headline(), size=17)
        cell = (WIDTH - 2 * EDGE) / WARP
        shown = self.sectors[:MOST_SECTORS]
        room = (WIDTH - 2 * EDGE) / max(len(shown), 1)
        width = min(room * 0.92, 236.0)
        left = {sector: EDGE + place * room for place, sector in enumerate(shown)}
        top, below = 66, 236
        for lane, at in enumerate(self.access.addresses):
            x = EDGE + lane * cell
            kind = "d" if at is None else "ab"[lane // 8 % 2]
            canvas.rect(x + 1, top, cell - 2, 30, kind)
            canvas.text(
                x + cell / 2, top + 21, lane, size=15, anchor="middle", black=at is not None
            )
        for low, high, lane in self._pieces():
            sector = low // SECTOR
            if sector in left:
                x = left[sector] + (low % SECTOR) / SECTOR * width
                wide = (high - low) / SECTOR * width
                canvas.line(EDGE + (lane + 0.5) * cell, top + 31, x + wide / 2, below - 2)
                canvas.rect(x, below, wide, 36, "ab"[lane // 8 % 2])
        for x in left.values():
            canvas.rect(x, below, width, 36, "s")
        self._labels(canvas, left, room, width, below + 56)
        canvas.text(EDGE, below + 82, self._legend(), size=15)
        return canvas.render(str(self).splitlines()[0])

    def _labels(
        self, canvas: Canvas, left: dict[int, float], room: float, width: float, y: float
    ) -> None:
        """The first byte of each sector, or of every n-th where they stand close."""
        words = {sector: f"{sector * SECTOR - self.access.start:+,}" for sector in left}
        widest = max((len(each) for each in words.values()), default=1) * 9.5
        every = max(1, -(-int(widest + 8) // max(int(room), 1)))
        for place, (sector, x) in enumerate(left.items()):
            if place % every == 0:
                start = min(x + width / 2, WIDTH - widest / 2)
                canvas.text(max(start, widest / 2), y, words[sector], size=15, anchor="middle")

    def _legend(self) -> str:
        more = len(self.sectors) - MOST_SECTORS
        rest = f"; not drawn: {counted(more, 'more sector')}" if more > 0 else ""
        return (
            f"32-byte sectors, by their first byte in {self.access.array}; "
            f"empty space in a box: bytes moved for nobody{rest}"
        )

    def _pieces(self) -> list[tuple[int, int, int]]:
        """(low, high, lane): each lane's bytes, cut where a sector ends."""
        found = []
        for lane, at in self.access.lanes:
            end, low = at + self.access.nbytes, at
            while low < end:
                high = min(end, (low // SECTOR + 1) * SECTOR)
                found.append((low, high, lane))
                low = high
        return found


def lane_ranges(lanes: list[int]) -> str:
    """`lanes 0-7, 16`."""
    parts: list[list[int]] = []
    for lane in lanes:
        if parts and lane == parts[-1][-1] + 1:
            parts[-1][1:] = [lane]
        else:
            parts.append([lane])
    words = ", ".join("-".join(map(str, part)) for part in parts)
    return f"lane{'s' if len(lanes) != 1 else ''} {words}" if lanes else "no lane"


def sectors(
    report: Report,
    *,
    kind: str | None = None,
    array: str | None = None,
    line: int | None = None,
    block: int = 0,
    warp: int = 0,
    skip: int = 0,
) -> SectorMap | Sentence:
    """Draw which 32-byte sectors one access of a warp touches, and the bytes wasted.

    Parameters
    ----------
    report
        What `simulate` returned.
    kind
        "load", "store", "atomic" or "async copy"; None takes any.
    array, line
        Only accesses of this global array, or on this source line; None takes any.
    block, warp
        Whose access; blocks are counted with x fastest.
    skip
        How many such accesses to pass over first.

    Raises
    ------
    WiaLabError
        For a block or a warp that the launch has not.
    """
    access = find(report, "global", Wanted(kind, array, line), block, warp, skip)
    if isinstance(access, str):
        return Sentence(access)
    used = {byte for _, at in access.lanes for byte in range(at, at + access.nbytes)}
    firsts = np.array([at for _, at in access.lanes])
    asked = [
        {byte // SECTOR for at in part.tolist() for byte in (at, at + width - 1)}
        for part, width in pieces(firsts, access.nbytes, access.widest)
    ]
    numbers = tuple(sorted({byte // SECTOR for byte in used}))
    return SectorMap(access, numbers, len(used), len(asked), sum(map(len, asked)))
