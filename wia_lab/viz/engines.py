"""A stream timeline: engines as rows, work as bars, waits as arrows, hazards marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wia_lab.viz.picture import Picture, Sentence
from wia_lab.viz.svg import Canvas, shortened
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.timeline import Operation, Timeline

MOST_BARS = 400
MOST_HAZARDS = 4
LEFT, RIGHT, ROW = 190, 985, 44


@dataclass(frozen=True)
class Bar:
    """One piece of work on one engine; times are nanoseconds."""

    name: str
    stream: str
    engine: str
    start: int
    end: int
    number: int
    hazardous: bool


@dataclass(frozen=True)
class EngineRows(Picture):
    """What ran on which engine, when.

    `waits` are pairs of operation numbers: the second waited for the first.
    """

    bars: tuple[Bar, ...]
    waits: tuple[tuple[int, int], ...]
    hazards: tuple[str, ...]
    left_out: int

    @property
    def total(self) -> int:
        """Nanoseconds from the first start to the last end."""
        return max(bar.end for bar in self.bars) - min(bar.start for bar in self.bars)

    @property
    def engines(self) -> list[str]:
        """Rows, in the order in which they were first used."""
        return list(dict.fromkeys(bar.engine for bar in sorted(self.bars, key=lambda b: b.start)))

    def busy(self, engine: str) -> int:
        """Nanoseconds during which an engine worked."""
        return sum(bar.end - bar.start for bar in self.bars if bar.engine == engine)

    def headline(self) -> str:
        """The figures in one line."""
        hazards = counted(len(self.hazards), "hazard")
        count = len({bar.stream for bar in self.bars})
        streams = counted(count, "stream")
        return f"{self.total / 1e3:,.1f} µs in all, {streams}, {hazards}"

    def __str__(self) -> str:
        rows = [f"stream timeline: {self.headline()}"]
        for engine in self.engines:
            busy = self.busy(engine)
            share = 100 * busy / max(self.total, 1)
            rows.append(f"{engine}: busy {busy / 1e3:,.1f} µs, {share:.0f} %")
            rows += [
                f"   {bar.start / 1e3:,.1f} to {bar.end / 1e3:,.1f} µs  {bar.name} ({bar.stream})"
                for bar in self.bars
                if bar.engine == engine
            ]
        names = {bar.number: bar.name for bar in self.bars}
        rows += [f"{names[second]} waits for {names[first]}" for first, second in self.waits]
        rows += [f"hazard: {message}" for message in self.hazards]
        rest = [counted(self.left_out, "more operation")] if self.left_out else []
        return "\n".join([*rows, *rest])

    def drawing(self) -> str:
        """An engine a row, time to the right."""
        engines, told = self.engines, self.hazards[:MOST_HAZARDS]
        bottom = 60 + ROW * len(engines)
        canvas = Canvas(1000, bottom + 56 + 22 * len(told))
        canvas.text(20, 24, self.headline(), size=17, bold=True)
        begin = min(bar.start for bar in self.bars)
        scale = (RIGHT - LEFT) / max(self.total, 1)
        streams = list(dict.fromkeys(bar.stream for bar in self.bars))
        places: dict[int, tuple[float, float, float]] = {}
        for place, engine in enumerate(engines):
            y = 50 + ROW * place
            canvas.text(20, y + 24, shortened(engine, 20), size=15)
            canvas.line(LEFT, y + ROW - 4, RIGHT, y + ROW - 4, "d")
            for bar in self.bars:
                if bar.engine != engine:
                    continue
                x, wide = LEFT + (bar.start - begin) * scale, (bar.end - bar.start) * scale
                places[bar.number] = (x, x + wide, y + 17)
                kind = "abcr"[streams.index(bar.stream) % 4]
                tip = f"{bar.name}, {bar.stream}: {bar.start:,} to {bar.end:,} ns"
                canvas.rect(x, y, max(wide - 1, 1), 34, kind, tip)
                if bar.hazardous:
                    canvas.rect(x + 1, y + 1, max(wide - 3, 3), 32, "h")
                fits = int((wide - 6) / 8.5)
                if fits >= 3:
                    words = shortened(("! " if bar.hazardous else "") + bar.name, fits)
                    canvas.text(x + 4, y + 22, words, size=14, black=True)
        for first, second in self.waits:
            if first in places and second in places:
                canvas.arrow(
                    places[first][1], places[first][2], places[second][0], places[second][2]
                )
        self._axis(canvas, bottom)
        for place, message in enumerate(told):
            canvas.text(20, bottom + 62 + 22 * place, shortened(f"! {message}", 128), size=14)
        return canvas.render(str(self).splitlines()[0])

    def _axis(self, canvas: Canvas, y: float) -> None:
        for part in range(6):
            x = LEFT + (RIGHT - LEFT) * part / 5
            anchor = "end" if part == 5 else "middle"
            canvas.text(x, y + 14, f"{self.total * part / 5e3:,.0f} µs", size=14, anchor=anchor)
        rest = f"; not drawn: {counted(self.left_out, 'more operation')}" if self.left_out else ""
        words = f"fills tell streams apart; arrows: waits; thick frame and !: a hazard{rest}"
        canvas.text(20, y + 38, words, size=14)


def stream_timeline(timeline: Timeline) -> EngineRows | Sentence:
    """Draw what a timeline's engines did: the first 400 pieces of work that have ended."""
    done = sorted(timeline.finished, key=lambda each: each.number)
    working = [each for each in done if each.work.engines]
    if not working:
        return Sentence("No work has ended on this timeline: synchronize() it before drawing.")
    shown = working[:MOST_BARS]
    hazards = timeline.order.hazards
    who = {name for hazard in hazards for name in (hazard.first, hazard.second)}
    bars = tuple(
        Bar(
            each.work.name,
            each.stream.name,
            engine.name,
            each.start or 0,
            each.end or 0,
            each.number,
            f"{each.work.name} on {each.stream.name}" in who,
        )
        for each in shown
        for engine in each.work.engines
    )
    messages = tuple(hazard.message for hazard in hazards)
    return EngineRows(bars, _waits(done), messages, len(working) - len(shown))


def _waits(done: list[Operation]) -> tuple[tuple[int, int], ...]:
    """Waits between pieces of work: a mark stands for the work before it on its stream."""
    before: dict[int, int] = {}  # mark → the work that it marks
    last: dict[int, int] = {}
    for each in done:
        if each.work.engines:
            last[each.stream.number] = each.number
        before[each.number] = last.get(each.stream.number, 0)
    held: dict[int, tuple[int, ...]] = {}  # what a stream's next work still waits for
    found = []
    for each in done:
        held[each.stream.number] = (*held.get(each.stream.number, ()), *each.awaited)
        if each.work.engines:
            waited = held.pop(each.stream.number)
            found += [(before[number], each.number) for number in waited if before.get(number)]
    return tuple(dict.fromkeys(found))
