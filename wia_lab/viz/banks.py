"""A warp's lanes and the 32 banks of shared memory: conflicts, and words that are broadcast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt import compiled
from wia_lab.simt.counters import pieces
from wia_lab.viz.access import WARP, Wanted, WarpAccess, find
from wia_lab.viz.picture import Picture, Sentence
from wia_lab.viz.sectors import lane_ranges
from wia_lab.viz.svg import Canvas, shortened
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.simt.report import Report

BANKS, WORD = 32, 4
WIDTH, EDGE = 1000, 20


@dataclass(frozen=True)
class BankMap(Picture):
    """One access of one warp to shared memory.

    Attributes
    ----------
    access : WarpAccess
        Who asks for what.
    words : tuple of tuple
        For each bank, the different 4-byte words asked of it, each as (word, lanes).
    wavefronts, conflicts : int
        Passes through shared memory, and those beyond what the width needs.
    """

    access: WarpAccess
    words: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]
    wavefronts: int
    conflicts: int

    @property
    def broadcasts(self) -> int:
        """Words that more than one lane asks for, and that are delivered once."""
        return sum(len(lanes) > 1 for bank in self.words for _, lanes in bank)

    def headline(self) -> str:
        """The figures in one line."""
        passes = counted(self.wavefronts, "wavefront")
        conflicts = counted(self.conflicts, "bank conflict")
        words = f"{counted(self.broadcasts, 'word')} shared by lanes"
        return f"{counted(len(self.access.lanes), 'lane')}, {passes}, {conflicts}, {words}"

    def __str__(self) -> str:
        lines = [f"{self.access.what}. {self.headline()}."]
        for number, bank in enumerate(self.words):
            asked = [f"word {word} by {lane_ranges(list(lanes))}" for word, lanes in bank]
            if asked:
                lines.append(f"bank {number}: {'; '.join(asked)}")
        return "\n".join(lines)

    def drawing(self) -> str:
        """Lanes above, banks below; under each bank, the words that it must deliver in turn."""
        deepest = max((len(bank) for bank in self.words), default=0)
        row = min(26.0, 240 / max(deepest, 1))
        canvas = Canvas(WIDTH, 280 + max(deepest * row, 30) + 40)
        canvas.text(EDGE, 22, self.access.what, size=17, bold=True)
        canvas.text(EDGE, 46, self.headline(), size=17)
        cell, top, below = (WIDTH - 2 * EDGE) / WARP, 66, 226
        worst = {n for n, bank in enumerate(self.words) if len(bank) == deepest > 1}
        for lane, at in enumerate(self.access.addresses):
            x = EDGE + lane * cell
            canvas.rect(x + 1, top, cell - 2, 30, "d" if at is None else "ab"[lane // 8 % 2])
            canvas.text(
                x + cell / 2, top + 21, lane, size=15, anchor="middle", black=at is not None
            )
        for number, bank in enumerate(self.words):
            x = EDGE + number * cell
            canvas.rect(x + 1, below, cell - 2, 28, "h" if number in worst else "s")
            canvas.text(x + cell / 2, below + 20, number, size=15, anchor="middle")
            for lanes in (lanes for _, lanes in bank):
                for lane in lanes:
                    canvas.line(EDGE + (lane + 0.5) * cell, top + 31, x + cell / 2, below - 3)
            for place, (word, lanes) in enumerate(bank):
                y = below + 36 + place * row
                tip = f"word {word}: {lane_ranges(list(lanes))}"
                canvas.rect(x + 1, y, cell - 2, row - 2, "c" if len(lanes) > 1 else "a", tip)
                if row > 15:
                    name = f"×{len(lanes)}" if len(lanes) > 1 else str(lanes[0])
                    canvas.text(
                        x + cell / 2, y + row - 8, name, size=13, anchor="middle", black=True
                    )
        y = below + 36 + max(deepest * row, 30) + 22
        legend = "32 banks; below each, the words that it delivers in turn"
        if row > 15:
            legend += ", with the lane that asks, or ×n for n lanes at once"
        canvas.text(EDGE, y, shortened(legend, 130), size=15)
        return canvas.render(str(self).splitlines()[0])


def banks(
    report: Report,
    *,
    kind: str | None = None,
    array: str | None = None,
    line: int | None = None,
    block: int = 0,
    warp: int = 0,
    skip: int = 0,
) -> BankMap | Sentence:
    """Draw which banks of shared memory one access of a warp asks, and how often.

    Parameters and errors are those of `sectors`; `array` is a shared array.
    """
    access = find(report, "shared", Wanted(kind, array, line), block, warp, skip)
    if isinstance(access, str):
        return Sentence(access)
    asked: list[dict[int, list[int]]] = [{} for _ in range(BANKS)]
    for lane, at in access.lanes:
        for word in range(at // WORD, (at + access.nbytes - 1) // WORD + 1):
            asked[word % BANKS].setdefault(word, []).append(lane)
    words = tuple(
        tuple((word, tuple(lanes)) for word, lanes in sorted(bank.items())) for bank in asked
    )
    return BankMap(access, words, *_passes(access))


def _passes(access: WarpAccess) -> tuple[int, int]:
    """Wavefronts and conflicts, counted by what counts them for the report."""
    table = np.zeros((1, 4), np.int64)
    offsets = np.array([at or 0 for at in access.addresses], np.int64)
    active = np.array([at is not None for at in access.addresses])
    for part, width in pieces(offsets, access.nbytes, access.widest):
        if access.kind == "atomic":
            compiled.atomic_banks(table, 0, 0, part, width, 0, active)
        else:
            compiled.banks(table, 0, 0, part, width, 0, active, access.kind == "load")
    return int(table[0, 1]), int(table[0, 2])
