"""One step of a warp's walk: the source line, the active lanes, the values that they hold."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wia_lab.viz.picture import Picture, Sentence
from wia_lab.viz.svg import Canvas, shortened
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.simt.report import Report
    from wia_lab.simt.stepping import Walk

AROUND = 5  # source lines shown before and after
MOST_VARIABLES = 4


@dataclass(frozen=True)
class StepMap(Picture):
    """A warp at one step.

    Attributes
    ----------
    lines : tuple of (number, text)
        The source around the line.
    values : tuple of (variable, 32 values)
        As they are after the step; None where a lane has set none.
    touches : tuple of str
        What the step loads and stores.
    """

    title: str
    line: int
    lines: tuple[tuple[int, str], ...]
    active: tuple[bool, ...]
    values: tuple[tuple[str, tuple[Any, ...]], ...]
    touches: tuple[str, ...]

    def __str__(self) -> str:
        text = dict(self.lines).get(self.line, "").strip()
        lanes = "".join("#" if on else "." for on in self.active)
        rows = [self.title, f"line {self.line}: {text}"]
        rows.append(f"{counted(sum(self.active), 'active lane')}  {lanes}")
        rows += [f"{name}: {' '.join(map(_short, values))}" for name, values in self.values]
        return "\n".join([*rows, *self.touches])

    def drawing(self) -> str:
        """Source above, lanes and values below, sixteen lanes a row."""
        above = 44 + 24 * len(self.lines)
        canvas = Canvas(1000, above + 56 + 82 * len(self.values) + 22 * len(self.touches) + 20)
        canvas.text(20, 24, self.title, size=17, bold=True)
        for place, (number, text) in enumerate(self.lines):
            y, now = 36.0 + 24 * place, number == self.line
            if now:
                canvas.rect(14, y, 972, 24, "b")
            words = f"{number:>4}  {shortened(text, 94)}"
            canvas.text(20, y + 18, words, size=16, mono=True, black=now, bold=now)
        wide = 860 / 32
        canvas.text(20, above + 22, counted(sum(self.active), "lane"), size=16)
        for lane, on in enumerate(self.active):
            x = 124 + lane * wide
            canvas.rect(x, above, wide - 2, 30, "a" if on else "d")
            canvas.text(x + wide / 2 - 1, above + 21, lane, size=14, anchor="middle", black=on)
        y = above + 42.0
        for name, values in self.values:
            canvas.text(20, y + 36, shortened(name, 11), size=16, mono=True)
            for lane, value in enumerate(values):
                x, row = 124 + lane % 16 * 2 * wide, y + lane // 16 * 32
                canvas.rect(x, row, 2 * wide - 2, 30, "s" if value is not None else "d")
                size = 14 if len(_short(value)) < 7 else 11
                canvas.text(x + wide - 1, row + 21, _short(value), size=size, anchor="middle")
            y += 76
        for touch in self.touches:
            y += 22
            canvas.text(20, y, shortened(touch, 125), size=14)
        return canvas.render("; ".join(str(self).splitlines()[:3]))


def _short(value: Any) -> str:
    if value is None:
        return "·"
    if isinstance(value, float):
        return f"{value:.4g}"
    return shortened(str(value), 9)


def variables(walk: Walk) -> list[str]:
    """Names of the variables that a walk sets, in the order of their first value."""
    return list(dict.fromkeys(name for step in walk for name in step.values))


def step_map(
    report: Report, walk: Walk, number: int, chosen: tuple[str, ...] = ()
) -> StepMap | Sentence:
    """Draw step `number` of a walk's window, with the values of up to four variables.

    Values are those that the window's steps have set so far.
    """
    if not len(walk):
        return Sentence(f"Warp {walk.warp} of block {walk.block} executes no line.")
    number = min(max(number, 0), len(walk) - 1)
    step = walk[number]
    values: dict[str, list[Any]] = {name: [None] * 32 for name in chosen[:MOST_VARIABLES]}
    for before in walk[: number + 1]:
        for name in values.keys() & before.values.keys():
            for lane, value in enumerate(before.values[name]):
                if value is not None:
                    values[name][lane] = value
    file = report.launch.file
    numbers = range(max(1, step.line - AROUND), step.line + AROUND + 1)
    texts = [(n, linecache.getline(file, n).rstrip()) for n in numbers]
    lines = tuple((n, text) for n, text in texts if text or n == step.line)
    if not dict(lines).get(step.line):
        lines = ((step.line, step.text),)
    rest = "" if walk.ended else ", and it goes on"
    title = (
        f"warp {walk.warp} of block {walk.block}, step {walk.start + number + 1} of "
        f"{walk.start + len(walk)}{rest}"
    )
    touches = tuple(
        f"{touch.kind} of {touch.array} ({touch.space}): {_places(touch.places)}"
        for touch in step.touches
    )
    told = tuple((name, tuple(each)) for name, each in values.items())
    return StepMap(title, step.line, lines, step.active, told, touches)


def _places(places: tuple[str | None, ...]) -> str:
    found = [each for each in places if each is not None]
    return found[0] if len(found) == 1 else f"{found[0]} … {found[-1]}, {len(found)} lanes"
