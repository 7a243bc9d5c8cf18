"""What is wrong with an index: too large for its array, below 0, not one's own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from wia_lab.puzzles.fills import NOBODY
from wia_lab.puzzles.puzzle import Remark
from wia_lab.puzzles.remarks_guards import wrongly_guarded
from wia_lab.puzzles.whereabouts import places

if TYPE_CHECKING:
    from wia_lab.puzzles.scene import Scene


def index_too_large(scene: Scene) -> Remark | None:
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
        return wrongly_guarded(scene, axis, index, shape)
    if any(hazard.threads[0].block):
        return None
    along = "" if len(shape) == 1 else f" along axis {axis}"
    return Remark(
        "index-too-large",
        f"the index `{scene.source.written(index)}` goes up to {farthest[axis]} on this line, and "
        f"{scene.array} has {shape[axis]:,} places{along}, 0 to {shape[axis] - 1}: see which "
        "number is meant there, or how many places are needed.",
    )


def below_zero(scene: Scene) -> Remark | None:
    """A negative index of a shared array: what stands in its first element is the learner's say."""
    lowest = scene.recorder.lowest.get((scene.hazard.line, scene.array))
    if lowest is None or scene.array in scene.arrays or scene.hazard.index is None:
        return None
    axes = range(8)
    written = [scene.source.index(scene.hazard.line, scene.array, axis) for axis in axes]
    computed = (each for each in written if isinstance(each, ast.BinOp))
    text = next(map(scene.source.written, computed), None)
    if text is None:
        return None
    return Remark(
        "negative-index",
        f"the index `{text}` on line {scene.hazard.line} begins at {lowest}, and {scene.array} at "
        "0, so that it reads from the other end: something is subtracted that was taken care of "
        f"when {scene.array} was filled.",
    )


def same_cell(scene: Scene) -> Remark | None:
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
        index = ", ".join(scene.source.written(each) for each in written if each is not None)
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
