"""What is wrong with what is asked, or counted, before an index leaves an argument."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from wia_lab.puzzles.guards import BELOW, comparisons
from wia_lab.puzzles.puzzle import Remark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wia_lab.puzzles.guards import Condition
    from wia_lab.puzzles.scene import Scene

STRICTER: dict[type[ast.cmpop], str] = {ast.LtE: "<", ast.GtE: ">", ast.Gt: ">=", ast.Lt: "<="}
"""What to write instead, in a condition for whom to let through or for whom to send away."""


class _Place(NamedTuple):
    """Where an argument is indexed: the index along one axis, and the axis's length."""

    scene: Scene
    indexed_by: ast.expr
    axis: int
    shape: tuple[int, ...]

    @property
    def bound(self) -> str:
        """The length, as a learner would write it."""
        name = self.scene.array
        return f"{name}.shape[{self.axis}]" if len(self.shape) > 1 else f"{name}.size"

    @property
    def places(self) -> str:
        """`only 1,021 places`, and along which axis."""
        along = "" if len(self.shape) == 1 else f" along axis {self.axis}"
        return f"only {self.shape[self.axis]:,} places{along}"

    @property
    def text(self) -> str:
        """The index, as it is written."""
        return self.scene.source.written(self.indexed_by)

    def is_index(self, node: ast.expr) -> bool:
        """Whether an expression is the index, by whatever name."""
        return self.scene.source.same(node, self.indexed_by)


def wrongly_guarded(
    scene: Scene, axis: int, index: ast.expr, shape: tuple[int, ...]
) -> Remark | None:
    """The condition, or the range, that lets an index leave an argument."""
    place = _Place(scene, index, axis, shape)
    guards = scene.source.guards(scene.hazard.line, scene.array)
    for guard in guards:
        for left, operator, right, either in comparisons(guard.holds):
            if operator in BELOW and place.is_index(left):
                return _either(guard) if either else _bounded(place, guard, left, operator, right)
    return _counted_too_far(place) or (_not_bounded(place, guards) if guards else None)


def _either(guard: Condition) -> Remark:
    """Conditions of which all must hold are joined so that one of them is enough."""
    if guard.is_turned:
        text = "leaves only where all of it is true, and each part alone is a reason: write `or`."
    else:
        text = "is true where one part of it is, so one of them is enough: all must hold, so `and`."
    return Remark("guard-by-or", f"{guard} {text}")


def _bounded(
    place: _Place, guard: Condition, left: ast.expr, operator: type[ast.cmpop], right: ast.expr
) -> Remark:
    """The index is compared with something else than the length, or the length is let through."""
    source = place.scene.source
    value, extent = source.number(right, place.scene.arrays), place.shape[place.axis]
    if value is not None and value == extent and operator is ast.LtE:
        return _length_included(place.scene, guard, left, right, value)
    if value is not None and value <= extent:
        return Remark(
            "index-changed",
            f"{guard} bounds `{source.written(left)}` as it is there, and on line "
            f"{place.scene.hazard.line} it is another: see what happens to it between the two.",
        )
    which = "" if len(place.shape) == 1 else ", or see which index belongs to which axis"
    what = f"`{source.written(right)}`" if value is None else f"{value:,} here"
    return Remark(
        "guard-by-another-length",
        f"{guard} compares `{source.written(left)}` with {what}, but {place.scene.array} has "
        f"{place.places}: compare with {place.bound}{which}.",
    )


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


def _counted_too_far(place: _Place) -> Remark | None:
    """The index is counted by a `for` whose range goes past the length."""
    source = place.scene.source
    for loop in source.loops(place.scene.hazard.line, place.scene.array):
        if not place.is_index(loop.target) or not isinstance(loop.iter, ast.Call):
            continue
        given = loop.iter.args
        if ast.unparse(loop.iter.func) != "range" or not given:
            continue
        stop = given[min(1, len(given) - 1)]
        value = source.number(stop, place.scene.arrays)
        if value is not None and value > place.shape[place.axis]:
            return Remark(
                "range-too-long",
                f"line {loop.lineno}, `{source.written(loop.iter)}`, ends before {value:,} here, "
                f"and {place.scene.array} has {place.places}: end at {place.bound}.",
            )
    return None


def _not_bounded(place: _Place, guards: Sequence[Condition]) -> Remark:
    """Something is asked, but not whether the index is below the length."""
    for guard in guards:
        for left, _, right, _ in comparisons(guard.holds):
            if place.is_index(left) or place.is_index(right):
                return Remark(
                    "guard-of-one-side",
                    f"{guard} does not bound `{place.text}`, the index, above: `{place.text} < "
                    f"{place.bound}` must hold too.",
                )
    one = len(guards) == 1
    asked = str(guards[0]) if one else f"{str(guards[0]).rstrip(',')} and {guards[1]}"
    return Remark(
        "guard-of-something-else",
        f"{asked} {'does' if one else 'do'} not keep `{place.text}`, the index, below "
        f"{place.bound}: what is asked must be the index itself.",
    )
