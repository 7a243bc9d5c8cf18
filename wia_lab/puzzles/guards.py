"""What an answer's source says of an index: how it is written, and what is asked about it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FunctionType

    import numpy as np

DEEPEST = 6
"""Names that stand for names that stand for names: as far as they are followed."""

BELOW = {ast.Lt: "<", ast.LtE: "<="}
TURNED = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}


@dataclass(frozen=True, eq=False)
class Condition:
    """What is asked somewhere, as it holds at a place that is reached only then."""

    holds: ast.expr  # what is true at that place
    test: ast.expr  # what the learner wrote, or its opposite
    written: str  # as it stands in the source: `if i > n: return`, `while i < n:`, `i < n`

    @property
    def line(self) -> int:
        """Where it stands."""
        return self.test.lineno

    @property
    def is_turned(self) -> bool:
        """Whether the opposite of what is written holds: those who are meant leave early."""
        return self.holds is not self.test

    def __str__(self) -> str:
        return f"line {self.line}, `{self.written}`,"


class Source:
    """The syntax tree of a kernel.

    Parameters
    ----------
    function
        The kernel's plain Python function; where Python does not keep its source, nothing is found.
    """

    def __init__(self, function: FunctionType) -> None:
        try:
            text = textwrap.dedent(inspect.getsource(function))
            tree = ast.parse(text)
        except (OSError, TypeError, SyntaxError):
            text, tree = "", ast.Module([], [])
        above = function.__code__.co_firstlineno - 1
        ast.increment_lineno(tree, above)
        self.lines = "\n" * above + text
        self.tree = tree
        self.names = function.__globals__
        self.above = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }
        self.meanings = _meanings(tree)

    def index(self, line: int, array: str, axis: int) -> ast.expr | None:
        """How `array` is indexed along an axis on a line; None unless it is so in one way only."""
        found: dict[str, ast.expr] = {}
        for node in self._subscripts(line, array):
            places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if axis < len(places):
                found[ast.unparse(places[axis])] = places[axis]
        return next(iter(found.values())) if len(found) == 1 else None

    def text(self, line: int) -> str:
        """Calls on a line, as text: where a name of the library is looked for."""
        calls = (each for each in ast.walk(self.tree) if isinstance(each, ast.Call))
        return " ".join(ast.unparse(each.func) for each in calls if each.lineno == line)

    def written(self, node: ast.expr) -> str:
        """An expression as the learner wrote it, on one line."""
        found = ast.get_source_segment(self.lines, node)
        return ast.unparse(node) if found is None else " ".join(found.split())

    def guards(self, line: int, array: str) -> list[Condition]:
        """Conditions that hold where `array` is indexed on a line, innermost first."""
        node = next(self._subscripts(line, array), None)
        return [] if node is None else self.holding(node)

    def loops(self, line: int, array: str) -> list[ast.For]:
        """Loops in which `array` is indexed on a line, innermost first."""
        node = next(self._subscripts(line, array), None)
        return [] if node is None else self.loops_around(node)

    def loops_around(self, node: ast.AST) -> list[ast.For]:
        """Loops in which a node stands, innermost first."""
        found = []
        above = self.above.get(node)
        while above is not None:
            if isinstance(above, ast.For):
                found.append(above)
            above = self.above.get(above)
        return found

    def holding(self, node: ast.AST) -> list[Condition]:
        """Conditions that hold at a node, innermost first."""
        return [each for each in self._holding(node) if not isinstance(each.holds, ast.Constant)]

    def followed(self, node: ast.expr) -> ast.expr:
        """An expression with what its names stand for in their place."""
        return ast.parse(self._followed(node), mode="eval").body

    def names_in(self, node: ast.expr) -> set[str]:
        """Names in an expression, and in what these stand for."""
        both = (*ast.walk(node), *ast.walk(self.followed(node)))
        return {each.id for each in both if isinstance(each, ast.Name)}

    def stores(self, array: str) -> list[ast.Subscript]:
        """Where elements of `array` are stored."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == array
        ]

    def same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions are written alike, once names are followed."""
        return self._followed(one) == self._followed(other)

    def number(self, node: ast.expr, arrays: Mapping[str, np.ndarray]) -> int | None:
        """Value of an expression of numbers, constants and the shapes of arguments."""
        try:
            tree = ast.parse(self._followed(node), mode="eval").body
            return _number(tree, arrays, self.names)
        except (ValueError, SyntaxError, IndexError, ZeroDivisionError):
            return None

    def _subscripts(self, line: int, array: str) -> Iterator[ast.Subscript]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                last = node.end_lineno or node.lineno
                if node.value.id == array and node.lineno <= line <= last:
                    yield node

    def _followed(self, node: ast.expr) -> str:
        for _ in range(DEEPEST):
            text = ast.unparse(node)
            node = _Follow(self.meanings).visit(ast.parse(text, mode="eval")).body
            if ast.unparse(node) == text:
                break
        return ast.unparse(node)

    def _holding(self, node: ast.AST) -> Iterator[Condition]:
        """What is true at a node, from the inside out."""
        while node in self.above:
            above = self.above[node]
            if isinstance(above, (ast.If, ast.IfExp, ast.While)):
                body = above.body if isinstance(above.body, list) else [above.body]
                if node in body:
                    yield self._asked(above)
                elif node is not above.test:
                    yield self._asked(above, "… else:" if isinstance(above, ast.If) else "")
            if isinstance(above, ast.BoolOp) and isinstance(above.op, ast.And):
                for each in above.values[: above.values.index(node)]:  # type: ignore[arg-type]
                    yield Condition(each, each, self.written(each))
            for block in (getattr(above, name, None) for name in ("body", "orelse")):
                if isinstance(block, list) and node in block:
                    for before in reversed(block[: block.index(node)]):
                        if isinstance(before, ast.If) and _leaves(before.body):
                            yield self._asked(before, _way_out(before.body))
            node = above

    def _asked(self, node: ast.If | ast.IfExp | ast.While, turned: str | None = None) -> Condition:
        """The condition of a statement, or its opposite: `turned` is what stands behind it then."""
        text = self.written(node.test)
        if not isinstance(node, ast.IfExp):
            text = f"{'while' if isinstance(node, ast.While) else 'if'} {text}:"
        if turned is None:
            return Condition(node.test, node.test, text)
        return Condition(_not(node.test), node.test, f"{text} {turned}".strip())


@lru_cache(maxsize=16)
def source_of(function: FunctionType) -> Source:
    """A kernel's source, parsed once: much is asked of it after each of the inputs."""
    return Source(function)


def _way_out(body: list[ast.stmt]) -> str:
    """`return` where that is all, `… return` where something is done before."""
    return f"{'… ' if len(body) > 1 else ''}{type(body[-1]).__name__.lower()}"


def comparisons(condition: ast.expr) -> Iterator[tuple[ast.expr, type[ast.cmpop], ast.expr, bool]]:
    """Each comparison `left < right` in a condition, turned so; last, whether an `or` joins it."""
    stack: list[tuple[ast.expr, bool]] = [(condition, False)]
    while stack:
        node, either = stack.pop()
        if isinstance(node, ast.BoolOp):
            either = either or isinstance(node.op, ast.Or)
            stack += [(each, either) for each in node.values]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            opposite = _not(node.operand)
            if not isinstance(opposite, ast.UnaryOp):  # else it has no simpler form
                stack.append((opposite, either))
        elif isinstance(node, ast.Compare):
            left = node.left
            for operator, right in zip(node.ops, node.comparators, strict=True):
                kind = type(operator)
                if kind in TURNED:
                    yield right, TURNED[kind], left, either
                else:
                    yield left, kind, right, either
                left = right


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Continue, ast.Break))


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


def _not(condition: ast.expr) -> ast.expr:
    """The opposite of a condition, with `not` moved into its comparisons."""
    if isinstance(condition, ast.BoolOp):
        operator = ast.And() if isinstance(condition.op, ast.Or) else ast.Or()
        turned: ast.expr = ast.BoolOp(operator, [_not(each) for each in condition.values])
    elif (
        isinstance(condition, ast.Compare)
        and len(condition.ops) == 1
        and type(condition.ops[0]) in _OPPOSITE
    ):
        operator_ = _OPPOSITE[type(condition.ops[0])]()
        turned = ast.Compare(condition.left, [operator_], condition.comparators)
    elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        return condition.operand
    else:
        turned = ast.UnaryOp(ast.Not(), condition)
    return ast.copy_location(turned, condition)


def _meanings(tree: ast.AST) -> dict[str, ast.expr]:
    """What each name stands for that is assigned in one place only, and not counted up."""
    found: dict[str, list[ast.expr | None]] = {}

    def bind(target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for place, each in enumerate(target.elts):
                if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
                    bind(each, value.elts[place])
                elif isinstance(value, ast.Attribute) and value.attr == "shape":
                    bind(each, ast.Subscript(value, ast.Constant(place), ast.Load()))
                else:
                    bind(each, None)

    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                bind(target, node.value)
        elif isinstance(node, (ast.AugAssign, ast.For)):
            bind(node.target, None)
    return {name: each[0] for name, each in found.items() if len(each) == 1 and each[0] is not None}


class _Follow(ast.NodeTransformer):
    """Puts what a name stands for in its place."""

    def __init__(self, meanings: dict[str, ast.expr]) -> None:
        self.meanings = meanings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.meanings.get(node.id, node)


def _number(node: ast.expr, arrays: Mapping[str, np.ndarray], names: Mapping[str, object]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name) and type(names.get(node.id)) is int:
        return names[node.id]  # type: ignore[return-value]
    if isinstance(node, ast.BinOp):
        left, right = (_number(each, arrays, names) for each in (node.left, node.right))
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.FloorDiv):
            return left // right
    array, attribute = _attribute(node)
    if array in arrays and attribute == "size":
        return int(arrays[array].size)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        array, attribute = _attribute(node.value)
        if array in arrays and attribute == "shape" and type(node.slice.value) is int:
            return int(arrays[array].shape[node.slice.value])
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1:
        name = ast.unparse(node.args[0])
        if name in arrays:
            return int(arrays[name].shape[0])
    raise ValueError


def _attribute(node: ast.expr) -> tuple[str, str]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id, node.attr
    return "", ""
