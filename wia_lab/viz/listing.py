"""A kernel's source with its counters beside each line; and where its warps diverge."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from wia_lab.viz.picture import Picture, Sentence
from wia_lab.viz.svg import Canvas, shortened
from wia_lab.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wia_lab.simt.report import Line, Report
    from wia_lab.simt.stepping import WarpStep

MOST_LINES = 60  # shown of a listing: the rest of a long kernel is told in a sentence
MOST_STEPS = 40  # rows of a walk
COLUMNS = (
    ("load sectors", "global_load_sectors"),
    ("store sectors", "global_store_sectors"),
    ("atomics", "atomics"),
    ("shared wavefronts", "shared_load_wavefronts", "shared_store_wavefronts"),
    ("bank conflicts", "shared_load_bank_conflicts", "shared_store_bank_conflicts"),
    ("divergent", "divergent_branches"),
    ("barriers", "barriers"),
    ("async copies", "async_copies"),
)


@dataclass(frozen=True)
class ListedLine:
    """One source line: number, text, one count a column, mean active lanes (None: not run)."""

    number: int
    text: str
    counts: tuple[int, ...]
    lanes: float | None


@dataclass(frozen=True)
class Listing(Picture):
    """A kernel's lines with what each did, in warp-level executions and sectors."""

    kernel: str
    columns: tuple[str, ...]
    lines: tuple[ListedLine, ...]
    left_out: int

    def __str__(self) -> str:
        rows = [f"{self.kernel}, line by line"]
        for line in self.lines:
            counts = [
                f"{name} {count:,}"
                for name, count in zip(self.columns, line.counts, strict=True)
                if count
            ]
            lanes = [f"active lanes {line.lanes:.1f}"] if line.lanes else []
            told = ", ".join([*counts, *lanes])
            rows.append(f"{line.number:>4}  {line.text}" + (f"    [{told}]" if told else ""))
        if self.left_out:
            rows.append(self._rest())
        return "\n".join(rows)

    def _rest(self) -> str:
        return f"{counted(self.left_out, 'more line')} did less, or nothing."

    def drawing(self) -> str:
        """A table; behind each count a bar of its share of the column's largest."""
        most = [
            max((line.counts[place] for line in self.lines), default=0)
            for place in range(len(self.columns))
        ]
        titles = ["", "", *self.columns, "active lanes"]
        head = "".join(f"<th>{escape(title)}</th>" for title in titles)
        rows = [
            f"<tr><td>{line.number}</td>{_source(line.text)}"
            + "".join(_bar(count, top) for count, top in zip(line.counts, most, strict=True))
            + f"<td>{f'{line.lanes:.1f}' if line.lanes else ''}</td></tr>"
            for line in self.lines
        ]
        rest = f"<p>{self._rest()}</p>" if self.left_out else ""
        table = f"<table><tr>{head}</tr>{''.join(rows)}</table>"
        return f'<div style="overflow-x:auto">{table}</div>{rest}'


def _source(text: str) -> str:
    """A line's cell, narrow enough for the counts of every column beside it."""
    return f'<td class="t" style="max-width:34em">{escape(shortened(text, 100))}</td>'


def _bar(count: int, top: int) -> str:
    if not count:
        return "<td></td>"
    share = round(100 * count / top)
    style = f"linear-gradient(to left, rgba(74,163,223,.45) {share}%, transparent {share}%)"
    return f'<td style="background:{style}">{count:,}</td>'


def listing(report: Report) -> Listing | Sentence:
    """Show a kernel's source with its counters beside it.

    Of a kernel longer than 60 lines, the lines that did most are shown, in source order.
    """
    own = {key: line for key, line in report.lines.items() if isinstance(key, int)}
    if not own:
        return Sentence(f"{report.launch.kernel} did nothing: no line of it has a counter.")
    used = [
        (name, parts)
        for name, *parts in COLUMNS
        if any(getattr(line.counters, part) for line in own.values() for part in parts)
    ]

    def counts(line: Line | None) -> tuple[int, ...]:
        if line is None:
            return (0,) * len(used)
        return tuple(sum(getattr(line.counters, part) for part in parts) for _, parts in used)

    numbers = list(range(min(own), max(own) + 1))
    if len(numbers) > MOST_LINES:
        busy = sorted(own, key=lambda n: (sum(counts(own[n])), own[n].warp_instructions))
        numbers = sorted(busy[-MOST_LINES:])
    texts = _texts(report, numbers)
    lines = tuple(
        ListedLine(
            number,
            texts[number],
            counts(own.get(number)),
            own[number].counters.active_lanes or None if number in own else None,
        )
        for number in numbers
    )
    left_out = max(own) - min(own) + 1 - len(lines)
    return Listing(report.launch.kernel, tuple(name for name, _ in used), lines, left_out)


def _texts(report: Report, numbers: Sequence[int]) -> dict[int, str]:
    """Source lines, with the indentation that they share taken away."""
    texts = {n: linecache.getline(report.launch.file, n).rstrip() for n in numbers}
    known = {n: line.text for n, line in report.lines.items() if isinstance(n, int)}
    texts = {n: text or known.get(n, "") for n, text in texts.items()}
    deep = [len(text) - len(text.lstrip()) for text in texts.values() if text.strip()]
    return {n: text[min(deep, default=0) :] for n, text in texts.items()}


@dataclass(frozen=True)
class WalkRow:
    """A source line of a walk, executed `times` in a row by the same lanes."""

    line: int
    text: str
    active: tuple[bool, ...]
    times: int


@dataclass(frozen=True)
class Divergence(Picture):
    """Which lanes of a warp were active, line by line in the order of execution."""

    block: int
    warp: int
    rows: tuple[WalkRow, ...]
    more: bool

    @property
    def headline(self) -> str:
        """The figures in one line."""
        split, count = sum(not all(row.active) for row in self.rows), len(self.rows)
        return (
            f"warp {self.warp} of block {self.block}: "
            f"{counted(count, 'line')} in order, "
            f"{split} of them by a part of its lanes"
        )

    def __str__(self) -> str:
        rows = [self.headline]
        for row in self.rows:
            lanes = "".join("#" if on else "." for on in row.active)
            times = f"  ×{row.times}" if row.times > 1 else ""
            count = sum(row.active)
            rows.append(
                f"line {row.line:>3}  {lanes}  {counted(count, 'lane'):>8}  {row.text}{times}"
            )
        return "\n".join([*rows, "and so on"] if self.more else rows)

    def drawing(self) -> str:
        """A row a line: its text, and 32 cells, filled where the lane is active."""
        canvas = Canvas(1000, 60 + 24 * len(self.rows) + 26)
        canvas.text(20, 22, self.headline, size=17, bold=True)
        for lane in range(0, 32, 4):
            canvas.text(480 + lane * 16, 48, lane, size=13)
        for place, row in enumerate(self.rows):
            y = 54 + 24 * place
            times = f" ×{row.times}" if row.times > 1 else ""
            words = shortened(row.text, 42 - len(times)) + times
            canvas.text(20, y + 16, f"{row.line:>3}  {words}", size=15, mono=True)
            whole = all(row.active)
            for lane, on in enumerate(row.active):
                kind = ("a" if whole else "b") if on else "d"
                canvas.rect(480 + lane * 16, y, 14, 20, kind)
        if self.more:
            canvas.text(20, 54 + 24 * len(self.rows) + 18, "and so on", size=15)
        return canvas.render(self.headline)


def divergence(report: Report, *, block: int = 0, warp: int = 0) -> Divergence | Sentence:
    """Draw which lanes of a warp are active, line by line.

    Lines that the same lanes execute again and again, as in a loop, are drawn once a round, up to
    40 rows.

    Raises
    ------
    WiaLabError
        For a block or a warp that the launch has not.
    """
    walk = report.step(block, warp, limit=20 * MOST_STEPS)
    rows: list[WalkRow] = []
    rest = False
    for step in walk:
        if rows and _same(rows[-1], step):
            rows[-1] = WalkRow(step.line, step.text, step.active, rows[-1].times + 1)
        elif len(rows) == MOST_STEPS:
            rest = True
            break
        else:
            rows.append(WalkRow(step.line, step.text, step.active, 1))
    if not rows:
        return Sentence(f"Warp {warp} of block {block} executes no line: there is nothing to draw.")
    return Divergence(block, warp, tuple(rows), rest or not walk.ended)


def _same(row: WalkRow, step: WarpStep) -> bool:
    return row.line == step.line and row.active == step.active
