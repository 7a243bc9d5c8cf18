"""Slips that an answer's source shows: what is written does something else than it looks like.

None of them is wrong by itself, so nothing is refused for them: they are likely causes of what was
found wrong. `plain_slip` looks for those that are hardly ever meant; `axes_swapped` and `slip`
for those that explain wrong values where nothing better does.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.guards import source_of
from wia_lab.puzzles.puzzle import Remark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FunctionType

    from wia_lab.puzzles.guards import Source

PLAIN = frozenset({"not-called", "compared-not-stored", "bits-in-a-comparison"})
"""Causes that explain more than whatever else is found."""

ROWS, COLUMNS = frozenset({"row", "y"}), frozenset({"column", "col", "x"})
WHOLE = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


def plain_slip(function: FunctionType) -> Remark | None:
    """A statement without effect, or a comparison in which & or | was read as `and` or `or`."""
    source = source_of(function)
    for node in ast.walk(source.tree):
        found = None
        if isinstance(node, ast.Expr):
            found = _idle(source, node.value)
        elif isinstance(node, ast.Compare):
            found = _bits(source, node)
        if found is not None:
            return found
    return None


def slip(function: FunctionType, outputs: Mapping[str, np.ndarray]) -> Remark | None:
    """What in the source may explain wrong values, `outputs` being what the kernel left."""
    source = source_of(function)
    return _cut_to_whole(source, outputs) or _index_without_counter(source) or _not_reset(source)


def _idle(source: Source, value: ast.expr) -> Remark | None:
    if isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.Eq):
        return Remark(
            "compared-not-stored",
            f"line {value.lineno}, `{source.written(value)}`, compares and stores nothing: = "
            "stores, == asks whether two are equal.",
            value.lineno,
        )
    if isinstance(value, ast.Attribute) and ast.unparse(value).startswith("cuda."):
        name = ast.unparse(value)
        return Remark(
            "not-called",
            f"line {value.lineno} names {name} and does not call it, so nothing happens there: "
            f"write {name}().",
            value.lineno,
        )
    return None


def _bits(source: Source, node: ast.Compare) -> Remark | None:
    """`i < n & j < m` is `i < (n & j) < m`."""
    for middle in node.comparators[:-1]:
        if not isinstance(middle, ast.BinOp) or not isinstance(middle.op, ast.BitAnd | ast.BitOr):
            continue
        if f"({source.written(middle)})" in source.written(node):
            continue
        sign, word = ("&", "and") if isinstance(middle.op, ast.BitAnd) else ("|", "or")
        return Remark(
            "bits-in-a-comparison",
            f"line {node.lineno}, `{source.written(node)}`: {sign} joins bits and binds before the "
            f"comparisons, so `{source.written(middle)}` is computed first: write `{word}`.",
        )
    return None


def axes_swapped(function: FunctionType) -> Remark | None:
    """Two names that say which axis they are, and get the other one."""
    source = source_of(function)
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
            continue
        names = [each.id for each in node.targets[0].elts if isinstance(each, ast.Name)]
        value = ast.unparse(node.value).strip("()")
        given = [each.strip() for each in value.split(",")]
        is_grid = value == "cuda.grid(2"
        if len(names) != 2 or not (is_grid or given == ["cuda.threadIdx.y", "cuda.threadIdx.x"]):
            continue
        if is_grid and names[0] in ROWS and names[1] in COLUMNS:
            said = "x first, which runs along the columns, and then y"
            return Remark(
                "axes-swapped",
                f"line {node.lineno} calls x and y {names[0]} and {names[1]}, but cuda.grid(2) "
                f"gives {said}: write {names[1]}, {names[0]} = cuda.grid(2).",
            )
        if not is_grid and names[0] in COLUMNS and names[1] in ROWS:
            return Remark(
                "axes-swapped",
                f"line {node.lineno} gives {names[0]} the thread's y, and {names[1]} its x: write "
                f"{names[0]}, {names[1]} = cuda.threadIdx.x, cuda.threadIdx.y.",
            )
    return None


def _cut_to_whole(source: Source, outputs: Mapping[str, np.ndarray]) -> Remark | None:
    """Only whole numbers come out, and something in the source makes them so."""
    floats = [each[np.isfinite(each)] for each in outputs.values() if each.dtype.kind == "f"]
    if not any(each.size for each in floats) or not all((e == np.rint(e)).all() for e in floats):
        return None
    for line, what in _cuts(source):
        return Remark(
            "cut-to-whole",
            f"only whole numbers come out: line {line} {what}, and what stands behind the point is "
            "lost there.",
        )
    return None


def _cuts(source: Source) -> Iterator[tuple[int, str]]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            call = node.value
            is_array = ast.unparse(call.func) in ("cuda.shared.array", "cuda.local.array")
            if is_array and (kind := _whole_kind(call)):
                yield node.lineno, f"makes {ast.unparse(node.targets[0])} of {kind}"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and _last(node.func) in {"int", *WHOLE}:
            yield node.lineno, f"makes a whole number, `{source.written(node)}`"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            value = node.value
            if isinstance(value, ast.BinOp) and isinstance(value.op, ast.FloorDiv):
                yield node.lineno, "divides by //, which gives whole numbers"


def _last(node: ast.expr) -> str:
    """`int32` of `np.int32`."""
    return ast.unparse(node).rpartition(".")[2].strip("'\"")


def _whole_kind(call: ast.Call) -> str | None:
    given = [*call.args[1:], *(each.value for each in call.keywords if each.arg == "dtype")]
    return next((name for name in map(_last, given) if name in WHOLE), None)


def _index_without_counter(source: Source) -> Remark | None:
    """One factor of a sum's products moves with the loop's counter, and the other stands still."""
    for loop in ast.walk(source.tree):
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        for node in loop.body:
            if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name):
                continue
            factors = [n for n in ast.walk(node.value) if isinstance(n, ast.Subscript)]
            still = [n for n in factors if not _uses(source, n, loop.target.id)]
            if len(still) == 1 and len(factors) > 1:
                return Remark(
                    "index-without-counter",
                    f"on line {node.lineno} `{source.written(still[0])}` is the same element in "
                    f"each round of the loop over {loop.target.id}: its index has no "
                    f"{loop.target.id} in it.",
                )
    return None


def _uses(source: Source, node: ast.expr, name: str) -> bool:
    return name in source.names_in(node)


def _not_reset(source: Source) -> Remark | None:
    """A sum that is used in each round of a loop, and starts from 0 only before the loop."""
    for sum_, name in _sums(source):
        starts = [
            node
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
        ]
        loops = source.loops_around(sum_)
        if len(starts) != 1 or not loops:
            continue
        inner, *outer = loops
        summed = set(ast.walk(inner))
        for loop in outer:
            if starts[0] in ast.walk(loop):
                break
            inside = [
                node
                for node in ast.walk(loop)
                if isinstance(node, ast.Name)
                and node.id == name
                and isinstance(node.ctx, ast.Load)
                and node not in summed
            ]
            if inside:
                return Remark(
                    "sum-not-reset",
                    f"{name} starts on line {starts[0].lineno}, before the loop on line "
                    f"{loop.lineno}, and is used on line {inside[0].lineno} in each round of it: "
                    "what earlier rounds have added is still in it.",
                )
    return None


def _sums(source: Source) -> Iterator[tuple[ast.AugAssign, str]]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node, node.target.id
