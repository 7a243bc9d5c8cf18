"""An array in the wrong memory: each thread's own where all need it, or the other way round."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from wia_lab.puzzles.puzzle import Remark

if TYPE_CHECKING:
    from wia_lab.puzzles.scene import Scene

OWN_PLACE = ("threadIdx", "cuda.grid", "laneid")
"""What an index by the thread's own number has in it."""


def local_for_shared(scene: Scene) -> Remark | None:
    """Each thread fills the element of its number, and reads others', in an array of its own."""
    if not _made_by(scene, "cuda.local.array") or not any(map(_is_own, _indices(scene))):
        return None
    return Remark(
        "local-for-shared",
        f"{scene.array} is a cuda.local.array, so each thread has one for itself and sees nothing "
        "of what others store in theirs: what threads fill for each other is a cuda.shared.array.",
    )


def shared_for_local(scene: Scene) -> Remark | None:
    """All threads count through the same elements, in an array that the block shares."""
    indices = _indices(scene)
    if not _made_by(scene, "cuda.shared.array") or not indices or any(map(_is_own, indices)):
        return None
    counters = {
        each.target.id
        for each in ast.walk(scene.source.tree)
        if isinstance(each, ast.For) and isinstance(each.target, ast.Name)
    }
    if not all(counters & _names(each) for each in indices):
        return None
    return Remark(
        "shared-for-local",
        f"{scene.array} is a cuda.shared.array, and all threads of the block store to the same "
        "elements of it: what each thread keeps for itself is a cuda.local.array.",
    )


def _made_by(scene: Scene, maker: str) -> bool:
    """Whether the hazard's array is what a call of `maker` gave."""
    return any(
        isinstance(each, ast.Assign)
        and isinstance(each.value, ast.Call)
        and ast.unparse(each.value.func) == maker
        and scene.array in map(ast.unparse, each.targets)
        for each in ast.walk(scene.source.tree)
    )


def _indices(scene: Scene) -> list[ast.expr]:
    """The indices at which elements of the hazard's array are stored, names followed."""
    return [scene.source.followed(each.slice) for each in scene.source.stores(scene.array)]


def _is_own(index: ast.expr) -> bool:
    return any(each in ast.unparse(index) for each in OWN_PLACE)


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
