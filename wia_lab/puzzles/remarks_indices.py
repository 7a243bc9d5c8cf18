"""What is wrong with an index: too large for its array, guarded wrongly, below 0, not one's own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from wia_lab.puzzles.fills import NOBODY
from wia_lab.puzzles.guards import BELOW, comparisons
from wia_lab.puzzles.puzzle import Remark
from wia_lab.puzzles.whereabouts import places

if TYPE_CHECKING:
    from wia_lab.puzzles.guards import Condition
    from wia_lab.puzzles.scene import Scene

STRICTER: dict[type[ast.cmpop], str] = {ast.LtE: "<", ast.GtE: ">", ast.Gt: ">=", ast.Lt: "<="}
"""What to write instead, in a condition for whom to let through or for whom to send away."""


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
        return _guard(scene, axis, index, shape)
    if any(hazard.threads[0].block):
        return None
    along = "" if len(shape) == 1 else f" along axis {axis}"
    return Remark(
        "index-too-large",
        f"the index `{scene.source.written(index)}` goes up to {farthest[axis]} on this line, and "
        f"{scene.array} has {shape[axis]:,} places{along}, 0 to {shape[axis] - 1}: see which "
        "number is meant there, or how many places are needed.",
    )


def _guard(scene: Scene, axis: int, index: ast.expr, shape: tuple[int, ...]) -> Remark | None:
    """What is wrong with the conditions under which an index leaves an argument."""
    source, extent = scene.source, shape[axis]
    guards = source.guards(scene.hazard.line, scene.array)
    bound = f"{scene.array}.shape[{axis}]" if len(shape) > 1 else f"{scene.array}.size"
    for guard in guards:
        for left, operator, right, either in comparisons(guard.holds):
            if operator not in BELOW or not source.same(left, index):
                continue
            if either:
                return _either(guard)
            value = source.number(right, scene.arrays)
            if value is not None and value == extent and operator is ast.LtE:
                return _length_included(scene, guard, left, right, extent)
            if value is not None and value > extent:
                along = "" if len(shape) == 1 else f" along axis {axis}"
                which = "" if len(shape) == 1 else ", or see which index belongs to which axis"
                return Remark(
                    "guard-by-another-length",
                    f"{guard} compares `{source.written(left)}` with {value:,} here, but "
                    f"{scene.array} has only {extent:,} places{along}: compare with "
                    f"{bound}{which}.",
                )
    if not guards:
        return None
    if half := next((each for each in guards if _asks_about(scene, each, index)), None):
        text = scene.source.written(index)
        return Remark(
            "guard-of-one-side",
            f"{half} bounds `{text}`, the index, on one side only: `{text} < {bound}` must hold "
            "too.",
        )
    one = len(guards) == 1
    asked = str(guards[0]) if one else f"{str(guards[0]).rstrip(',')} and {guards[1]}"
    return Remark(
        "guard-of-something-else",
        f"{asked} {'does' if one else 'do'} not keep `{source.written(index)}`, the index, below "
        f"{bound}: what is asked must be the index itself.",
    )


def _asks_about(scene: Scene, guard: Condition, index: ast.expr) -> bool:
    """Whether a condition bounds the index itself."""
    same = scene.source.same
    return any(
        operator in BELOW and (same(left, index) or same(right, index))
        for left, operator, right, _ in comparisons(guard.holds)
    )


def _either(guard: Condition) -> Remark:
    """Conditions of which all must hold are joined so that one of them is enough."""
    if guard.is_turned:
        text = "leaves only where all of it is true, and each part alone is a reason: write `or`."
    else:
        text = "is true where one part of it is, so one of them is enough: all must hold, so `and`."
    return Remark("guard-by-or", f"{guard} {text}")


def _length_included(
    scene: Scene, guard: Condition, left: ast.expr, right: ast.expr, extent: int
) -> Remark:
    """A comparison that the length itself still meets."""
    written = scene.source.written
    one, operator, other = next(
        pair
        for node in ast.walk(guard.test)
        if isinstance(node, ast.Compare)
        for pair in _pairs(node)
        if {pair[0], pair[2]} == {left, right}
    )
    here = f"{extent:,}"
    if not isinstance(right, ast.Constant):
        here = f"{written(right)}, here {here},"
    return Remark(
        "guard-includes-the-length",
        f"{guard} lets {written(left)} = {here} through, one past the last place of "
        f"{scene.array}: write `{written(one)} {STRICTER[type(operator)]} {written(other)}`.",
    )


def _pairs(node: ast.Compare) -> list[tuple[ast.expr, ast.cmpop, ast.expr]]:
    """The comparisons of a chain, as written."""
    return list(zip([node.left, *node.comparators], node.ops, node.comparators, strict=False))


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
