"""Asynchronous copies in flight, beside the lines that run meanwhile."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wia_lab.viz.picture import Picture, Sentence
from wia_lab.viz.svg import Canvas, shortened
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.simt.inflight import InFlight
    from wia_lab.simt.report import Report

MOST_LINES, MOST_COPIES = 40, 8
KINDS = (
    ("load", "loads", "loads"),
    ("shared load", "shared loads", "shared_loads"),
    ("store", "stores", "stores"),
    ("shared store", "shared stores", "shared_stores"),
    ("arithmetic", "arithmetic", "arithmetic"),
)


@dataclass(frozen=True)
class Flight(Picture):
    """Copies, from the line that issues to the line that waits, and what ran in between.

    Attributes
    ----------
    lines : tuple of (number, text)
        The source between the first and the last line concerned.
    """

    copies: tuple[InFlight, ...]
    lines: tuple[tuple[int, str], ...]

    @staticmethod
    def told(copy: InFlight) -> str:
        """One copy's figures."""
        waited = f"waited for on line {copy.waited}" if copy.waited else "never waited for"
        meanwhile = ", ".join(
            counted(sum(getattr(copy, name).values()), *what)
            for *what, name in KINDS
            if getattr(copy, name)
        )
        return (
            f"issued on line {copy.issued}, {waited}: "
            f"{counted(copy.copies, 'copy', 'copies')}, {counted(copy.nbytes, 'byte')}; "
            f"meanwhile {meanwhile or 'nothing'}"
        )

    def __str__(self) -> str:
        rows = ["asynchronous copies in flight"]
        for number, copy in enumerate(self.copies, 1):
            rows.append(f"{number}: {self.told(copy)}")
            for *what, name in KINDS:
                rows += [
                    f"   line {line}: {counted(count, *what)} in flight"
                    for line, count in getattr(copy, name).items()
                ]
        return "\n".join(rows)

    def drawing(self) -> str:
        """The source; beside it a bar a copy, from issue to wait, with what ran under it."""
        shown = self.copies[:MOST_COPIES]
        row, left = 26, 560
        canvas = Canvas(1000, 50 + row * len(self.lines) + 14 + 22 * len(shown))
        canvas.text(20, 22, "asynchronous copies in flight", size=17, bold=True)
        place = {number: 40 + row * index for index, (number, _) in enumerate(self.lines)}
        for number, text in self.lines:
            canvas.text(20, place[number] + 18, f"{number:>3}  {shortened(text, 52)}", mono=True)
        wide = (980 - left) / max(len(shown), 1)
        bottom = 40 + row * len(self.lines)
        for index, copy in enumerate(shown):
            x = left + index * wide
            start = place.get(copy.issued, 40) + 6
            end = place.get(copy.waited or -1, bottom) + (20 if copy.waited in place else 0)
            low, high = min(start, end), max(start, end)
            canvas.rect(x, low, 14, max(high - low, 8), "a" if copy.overlapped else "b")
            canvas.text(x + 20, start + 12, f"copy {index + 1} issued", size=14)
            if copy.waited in place:
                canvas.text(x + 20, place[copy.waited or 0] + 18, "waited for", size=14)
            for line in sorted({n for *_, name in KINDS for n in getattr(copy, name)}):
                if line in place and line not in {copy.issued, copy.waited}:
                    count = sum(getattr(copy, name).get(line, 0) for *_, name in KINDS)
                    canvas.text(x + 20, place[line] + 18, f"{count:,} meanwhile", size=14)
        for index, copy in enumerate(shown):
            words = shortened(f"{index + 1}: {self.told(copy)}", 125)
            canvas.text(20, bottom + 26 + 22 * index, words, size=14)
        return canvas.render(str(self).splitlines()[0])


def in_flight(report: Report) -> Flight | Sentence:
    """Draw asynchronous copies, from issue to wait, against the lines that run meanwhile."""
    copies = report.async_timeline
    if not copies:
        return Sentence(f"{report.launch.kernel} issues no asynchronous copy.")
    numbers = {n for copy in copies for n in (copy.issued, copy.committed, copy.waited) if n}
    numbers |= {n for copy in copies for *_, name in KINDS for n in getattr(copy, name)}
    wanted = list(range(min(numbers), max(numbers) + 1))
    if len(wanted) > MOST_LINES:
        wanted = sorted(numbers)[:MOST_LINES]
    texts = [linecache.getline(report.launch.file, n).rstrip() for n in wanted]
    known = {n: line.text for n, line in report.lines.items() if isinstance(n, int)}
    texts = [text or known.get(n, "") for n, text in zip(wanted, texts, strict=True)]
    deep = min((len(t) - len(t.lstrip()) for t in texts if t.strip()), default=0)
    return Flight(copies, tuple((n, t[deep:]) for n, t in zip(wanted, texts, strict=True)))
