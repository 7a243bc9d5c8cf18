"""The likely cause of a hazard: what its message cannot know, from all of the launch or the source.

A hazard names one thread, one element and one or two lines. What went wrong often shows in all the
elements together: the last rows of a tile that no line fills, a copy that not all threads ask for,
a buffer that is filled anew before anybody has read it, a condition that asks about another index.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from wia_lab.puzzles.guards import comparisons, source_of
from wia_lab.puzzles.puzzle import Remark
from wia_lab.puzzles.remarks_indices import below_zero, index_too_large, same_cell
from wia_lab.puzzles.remarks_spaces import local_for_shared, shared_for_local
from wia_lab.puzzles.remarks_tiles import one_group, other_buffer, replaced, unfilled
from wia_lab.puzzles.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FunctionType

    from wia_lab.puzzles.fills import FillRecorder
    from wia_lab.puzzles.guards import Condition, Source
    from wia_lab.puzzles.puzzle import Case, Writers
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
    scene = Scene(function, case, hazard, recorder)
    if hazard.kind == "out-of-bounds":
        return index_too_large(scene)
    if hazard.kind == "uninitialised-read":
        return local_for_shared(scene) or unfilled(scene)
    if hazard.kind == "async-copy":
        return other_buffer(scene) or one_group(scene) or replaced(scene)
    if hazard.kind == "negative-index":
        return below_zero(scene)
    if hazard.kind == "race" and "with another value" not in hazard.message:
        return shared_for_local(scene)
    return same_cell(scene) if hazard.kind in {"race", "write-overlap"} else None


def _other_axis(source: Source, store: ast.Subscript, asked: Sequence[Condition]) -> Remark | None:
    """An index that is compared with the length of an axis that it does not count along."""
    places = store.slice.elts if isinstance(store.slice, ast.Tuple) else [store.slice]
    name = ast.unparse(store.value)
    for guard in asked:
        for left, operator, right, _ in comparisons(guard.holds):
            axes = [axis for axis, each in enumerate(places) if source.same(each, left)]
            given = source.followed(right)
            if operator is not ast.Lt or len(axes) != 1 or not _is_axis(given, name, axes[0]):
                continue
            return Remark(
                "guard-of-another-axis",
                f"{guard} compares `{source.written(left)}` with {ast.unparse(given)}, but on line "
                f"{store.lineno} it counts along axis {axes[0]} of {name}: compare with "
                f"{name}.shape[{axes[0]}].",
            )
    return None


def _is_axis(given: ast.expr, name: str, axis: int) -> bool:
    """Whether an expression is the length of another axis of an array than the one meant."""
    if not isinstance(given, ast.Subscript) or not isinstance(given.slice, ast.Constant):
        return False
    return ast.unparse(given.value) == f"{name}.shape" and given.slice.value != axis


def kept_out(function: FunctionType, writers: Mapping[str, Writers]) -> Remark | None:
    """The condition under which the only line that stores to an output does, if cells are left out.

    Parameters
    ----------
    function
        The kernel.
    writers
        Who wrote each cell of each output, by the kernel's own names.
    """
    for name, written in writers.items():
        if (written.thread >= 0).all():
            continue
        source = source_of(function)
        stores = source.stores(name)
        asked = source.holding(stores[0]) if len(stores) == 1 else []
        if asked and (other := _other_axis(source, stores[0], asked)):
            return other
        if asked:
            conditions = " and ".join(str(each).rstrip(",") for each in asked[:2])
            lets = "lets" if len(asked) == 1 else "let"
            return Remark(
                "kept-out",
                f"only threads that {conditions}, {lets} through come to line "
                f"{stores[0].lineno}, which stores: which thread should write that element, and is "
                "it let through?",
            )
    return None
