"""The likely cause of a hazard: what its message cannot know, from all of the launch or the source.

A hazard names one thread, one element and one or two lines. What went wrong often shows in all the
elements together: the last rows of a tile that no line fills, a copy that not all threads ask for,
a buffer that is filled anew before anybody has read it, a condition that asks about another index.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.fills import NOBODY
from wia_lab.puzzles.guards import BELOW, Source, comparisons
from wia_lab.puzzles.puzzle import Remark
from wia_lab.puzzles.whereabouts import places

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FunctionType

    from wia_lab.puzzles.fills import Fill, FillRecorder
    from wia_lab.puzzles.puzzle import Case
    from wia_lab.simt.hazards.found import Hazard

ORDER = (
    "out-of-bounds",
    "divergent-barrier",
    "no-progress",
    "async-copy",
    "race",
    "uninitialised-read",
)
"""Kinds of hazard, those first that cause the others: a missed barrier also causes races."""


WARNINGS = ("negative-index", "write-overlap")
"""Kinds of warning that a wrong cell may come from."""


def first_error(hazards: Sequence[Hazard]) -> Hazard | None:
    """The error that explains most."""
    errors = [each for each in hazards if each.severity == "error"]
    return min(errors, key=lambda each: ORDER.index(each.kind), default=None)


def remark(
    function: FunctionType, case: Case, hazards: Sequence[Hazard], recorder: FillRecorder
) -> Remark | None:
    """What to add to the first error of a launch, or the first warning that explains a wrong cell.

    Parameters
    ----------
    function, case
        The kernel, and the launch.
    hazards, recorder
        What was found in it, and what was recorded.
    """
    hazard = first_error(hazards) or next((h for h in hazards if h.kind in WARNINGS), None)
    if hazard is None or hazard.array is None or not hazard.threads:
        return None
    scene = _Scene(function, case, hazard, recorder)
    if hazard.kind == "out-of-bounds":
        return _index_too_large(scene)
    if hazard.kind == "uninitialised-read":
        return _unfilled(scene)
    if hazard.kind == "async-copy":
        return _other_buffer(scene) or _one_group(scene) or _replaced(scene)
    if hazard.kind == "negative-index":
        return _below_zero(scene)
    if hazard.kind == "race" and "with another value" not in hazard.message:
        return None
    return _same_cell(scene) if hazard.kind in {"race", "write-overlap"} else None


class _Scene:
    """A hazard, with what is known of its array and block."""

    def __init__(
        self, function: FunctionType, case: Case, hazard: Hazard, recorder: FillRecorder
    ) -> None:
        self.case, self.hazard, self.recorder = case, hazard, recorder
        self.source = Source(function)
        self.arrays = dict(
            zip(
                function.__code__.co_varnames[: function.__code__.co_argcount],
                case.arguments.values(),
                strict=False,
            )
        )
        self.array = hazard.array or ""
        self.threads = int(np.prod(case.block))
        place = hazard.threads[0].block
        self.block = _linear(place, case.grid)

    def fill(self, block: int | None = None) -> tuple[Fill, int] | None:
        """The hazard's shared array, as a block filled it."""
        return self.recorder.of_block(self.array, self.block if block is None else block)


def _linear(place: tuple[int, ...], extent: tuple[int, ...]) -> int:
    number = 0
    for coordinate, length in reversed(list(zip(place, extent, strict=False))):
        number = number * length + coordinate
    return number


# Out of bounds


def _index_too_large(scene: _Scene) -> Remark | None:
    """A guard that lets the index through, or a shared array that the index does not fit."""
    hazard = scene.hazard
    farthest, shape = scene.recorder.farthest.get((hazard.line, scene.array), ((), ()))
    bad = [
        axis
        for axis, (far, length) in enumerate(zip(farthest, shape, strict=True))
        if far >= length
    ]
    if not bad:
        return None
    axis = next((axis for axis in bad if (hazard.index or ())[axis] >= shape[axis]), bad[0])
    index = scene.source.index(hazard.line, scene.array, axis)
    if index is None:
        return None
    if scene.array in scene.arrays:
        return _guard(scene, axis, index, shape)
    if any(hazard.threads[0].block):
        return None
    along = "" if len(shape) == 1 else f" along axis {axis}"
    return Remark(
        "index-too-large",
        f"the index `{ast.unparse(index)}` goes up to {farthest[axis]} on this line, and "
        f"{scene.array} has {shape[axis]:,} places{along}, 0 to {shape[axis] - 1}: see which "
        "number is meant there, or how many places are needed.",
    )


def _guard(scene: _Scene, axis: int, index: ast.expr, shape: tuple[int, ...]) -> Remark | None:
    """What is wrong with the conditions under which an index leaves an argument."""
    source, extent = scene.source, shape[axis]
    guards = source.guards(scene.hazard.line, scene.array)
    bound = f"{scene.array}.shape[{axis}]" if len(shape) > 1 else f"{scene.array}.size"
    text = ast.unparse(index)
    for guard in guards:
        for left, operator, right, either in comparisons(guard):
            if operator not in BELOW or not source.same(left, index):
                continue
            asked = f"`{ast.unparse(left)} {BELOW[operator]} {ast.unparse(right)}`"
            if either:
                return Remark(
                    "guard-by-or",
                    f"{asked} is joined with another condition by `or`, so one of them is enough: "
                    "all must hold, which is `and` (or, to leave early, the opposite of each "
                    "joined by `or`).",
                )
            value = source.number(right, scene.arrays)
            if value is not None and value == extent and operator is ast.LtE:
                return Remark(
                    "guard-includes-the-length",
                    f"{asked} also holds for {extent}, one past the last: the condition is <.",
                )
            if value is not None and value > extent:
                return Remark(
                    "guard-by-another-length",
                    f"{asked} compares with {value:,} here, but {scene.array} has only {extent:,} "
                    f"places{'' if len(shape) == 1 else f' along axis {axis}'}: compare with "
                    f"{bound}"
                    f"{'' if len(shape) == 1 else ', or see which index belongs to which axis'}.",
                )
    if not guards:
        return None
    line = getattr(guards[0], "lineno", scene.hazard.line)
    asked = " and ".join(f"`{ast.unparse(each)}`" for each in guards[:2])
    return Remark(
        "guard-of-something-else",
        f"{asked} (line {line}) does not keep `{text}`, the index, below {bound}: what is asked "
        "must be the index itself.",
    )


def _below_zero(scene: _Scene) -> Remark | None:
    """A negative index of a shared array: what stands in its first element is the learner's say."""
    lowest = scene.recorder.lowest.get((scene.hazard.line, scene.array))
    if lowest is None or scene.array in scene.arrays or scene.hazard.index is None:
        return None
    axes = range(8)
    written = [scene.source.index(scene.hazard.line, scene.array, axis) for axis in axes]
    text = next((ast.unparse(each) for each in written if isinstance(each, ast.BinOp)), None)
    if text is None:
        return None
    return Remark(
        "negative-index",
        f"the index `{text}` on line {scene.hazard.line} begins at {lowest}, and {scene.array} at "
        "0, so that it reads from the other end: something is subtracted that was taken care of "
        f"when {scene.array} was filled.",
    )


# Read before it was filled


def _unfilled(scene: _Scene) -> Remark | None:
    """How a shared array was filled in the block that reads an element of it too early."""
    found = scene.fill()
    index = scene.hazard.index
    if found is None or index is None:
        return None
    fill, row = found
    if not fill.shape:
        return None
    cell = int(np.ravel_multi_index(index, fill.shape))
    name = f"{scene.array}[{', '.join(map(str, index))}]"
    if fill.line[row, cell] != NOBODY:
        return Remark(
            "filled-later",
            f"{name} is filled, but later, on line {fill.line[row, cell]}: fill all that will be "
            "read first, let all threads of the block meet at a barrier, and read then.",
        )
    return (
        _not_by_all(scene, fill, row, index)
        or _left_out_here(scene, fill, row, cell, name)
        or _never_filled(scene, fill, row)
    )


def _not_by_all(scene: _Scene, fill: Fill, row: int, index: tuple[int, ...]) -> Remark | None:
    """A copy that only some threads ask for."""
    for line, threads in fill.threads.items():
        taking = threads[row]
        if "copy_dram_to_sram_async" not in scene.source.text(line) or not taking.any():
            continue
        if taking[index[-1] % scene.threads]:
            continue
        return Remark(
            "copy-not-by-all",
            f"only {int(taking.sum())} of the block's {scene.threads} threads take part in the "
            f"copy on line {line}. All threads of a block share out its elements, so all must come "
            "to that line: it stands outside of every `if` and early return.",
        )
    return None


def _left_out_here(scene: _Scene, fill: Fill, row: int, cell: int, name: str) -> Remark | None:
    """An element that other blocks fill: a condition leaves it out in this one."""
    for line in fill.stores:
        for other in (each for each in scene.recorder.fills.items() if each[0][0] == scene.array):
            filled = other[1].line[:, cell] == line
            if not filled.any() or line not in other[1].stores:
                continue
            there = int(np.argmax(filled))
            most = int(other[1].stores[line][there])
            if int(fill.stores[line][row]) >= most:
                continue
            asked = scene.source.guards(line, scene.array)
            condition = f"`{ast.unparse(asked[0])}` keeps" if asked else "something keeps"
            return Remark(
                "left-out-by-a-condition",
                f"line {line} fills {name} in {_block_name(scene, other[0][1] + there)}. Here it "
                f"stores {int(fill.stores[line][row]):,} times instead of {most:,}: {condition} it "
                "from the rest.",
            )
    return None


def _never_filled(scene: _Scene, fill: Fill, row: int) -> Remark:
    """Elements that no line fills: which they are."""
    missing = fill.missed[row] & (fill.line[row] == NOBODY)
    filled = fill.line[row] != NOBODY
    lines = sorted({int(line) for line in np.unique(fill.line[row][filled])})
    if not lines:
        return Remark(
            "nothing-filled",
            f"in this block no thread stores anything to {scene.array} before it is read.",
        )
    one = len(lines) == 1
    said = f"line{'s' if len(lines) > 1 else ''} {_and(lines)}"
    stores, clashes = (
        sum(int(each[line][row]) for line in lines) for each in (fill.stores, fill.clashes)
    )
    needed = fill.missed[row] | filled
    start = (
        f"{said} fill{'s' if one else ''} {_count(filled)} of {scene.array}, and nobody fills "
        f"{places(missing, fill.shape, needed)}"
    )
    if clashes > stores // 4:
        return Remark(
            "filled-twice",
            f"{start}. {'It stores' if one else 'They store'} {stores:,} times, so threads fill "
            "the same elements: look at how far apart the elements of neighbouring threads lie, "
            "and those of one thread.",
        )
    if (count := int(needed.sum())) > scene.threads:
        more = (
            f": {count:,} are needed and the block has {scene.threads} threads, so a thread fills "
            "more than one."
        )
    else:
        more = ", though they are read."
    return Remark("never-filled", f"{start}{more}")


def _count(mask: np.ndarray) -> str:
    number = int(mask.sum())
    return f"{number:,} element{'' if number == 1 else 's'}"


def _and(numbers: Sequence[int]) -> str:
    *rest, last = map(str, numbers)
    return f"{', '.join(rest)} and {last}" if rest else last


def _block_name(scene: _Scene, number: int) -> str:
    place, rest = [], number
    for length in scene.case.grid:
        place.append(rest % length)
        rest //= length
    return f"block {place[0]}" if len(place) == 1 else f"block ({', '.join(map(str, place))})"


# Copies


def _other_buffer(scene: _Scene) -> Remark | None:
    """What is read is on its way, while another row of the array lies ready."""
    found, index = scene.fill(), scene.hazard.index
    row = None if found is None else found[0].waiting.get(scene.hazard.line)
    if row is None or index is None or row == index[0]:
        return None
    return Remark(
        "other-buffer",
        f"{scene.array}[{index[0]}] is read while its content is still on its way, and what has "
        f"arrived in {scene.array}[{row}] lies there unread: see which of them this turn is to "
        "compute from.",
    )


def _one_group(scene: _Scene) -> Remark | None:
    """Two copies into different buffers that one group holds."""
    before = scene.hazard.other_line
    if before is None or before not in scene.recorder.joined:
        return None
    other, closed = scene.recorder.joined[before]
    return Remark(
        "one-group",
        f"the copies on lines {before} and {other} are in one group, which line {closed} closes, "
        "so no wait can tell one from the other: close a group after each with "
        "cuda.cp_async_commit_group().",
    )


def _replaced(scene: _Scene) -> Remark | None:
    """A copy into a buffer whose last content nobody has read."""
    hazard, found = scene.hazard, scene.fill()
    if found is None or hazard.line not in found[0].lost:
        return None
    before = found[0].lost[hazard.line]
    there = "an earlier turn brought" if before == hazard.line else f"line {before} brought"
    return Remark(
        "replaced-unread",
        f"the copy goes to where nobody has read yet what {there}, and would replace it: copy into "
        "a buffer that is free, or later, when this one's content has been used and all threads "
        "have met at a barrier.",
    )


def _same_cell(scene: _Scene) -> Remark | None:
    """Two threads that store to one element."""
    hazard = scene.hazard
    if hazard.index is None:
        return None
    place = f"{scene.array}[{', '.join(map(str, hazard.index))}]"
    found = scene.fill()
    rest = ""
    if found is not None:
        fill, row = found
        missing = fill.missed[row] & (fill.line[row] == NOBODY)
        rest = (
            f", while nobody fills {places(missing, fill.shape, missing)}" if missing.any() else ""
        )
    if hazard.other_line in (None, hazard.line):
        written = [
            scene.source.index(hazard.line, scene.array, axis) for axis in range(len(hazard.index))
        ]
        index = ", ".join(ast.unparse(each) for each in written if each is not None)
        shown = f"`{index}` is" if index else "the index is"
        return Remark(
            "same-element",
            f"{shown} the same for {hazard.threads[0]} and {hazard.threads[-1]}, so both store to "
            f"{place}{rest}: work out that index for both. Each element needs a thread of its own.",
        )
    return Remark(
        "same-element",
        f"lines {hazard.other_line} and {hazard.line} both fill {place}{rest}: the index on one of "
        "them is off.",
    )
