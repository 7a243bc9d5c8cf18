"""Expressions of C as Python text.

Python's expressions have no effects inside: what C does on the way (`i++`, `a = b`, a call whose
place matters) becomes statements before the one that needs the value, and the right side of `&&`,
`||` and `?:` goes under an `if` when it has any.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wia_lab.hal.clike import builtins
from wia_lab.hal.clike.source import refuse
from wia_lab.hal.clike.types import BOOL, ULONG, Memory, Scalar, Type, common, scalar
from wia_lab.hal.clike.values import (
    BITWISE,
    COMPARISONS,
    Value,
    arithmetic,
    compared,
    converted,
    element,
    integer,
    literal,
    shifted,
    truth,
    unary,
)

if TYPE_CHECKING:
    from wia_lab.hal.errors import KernelError

ARITHMETIC = ("+", "-", "*", "/", "%", *BITWISE)
Scope = dict[str, "Value"]
"""What each name of the text is."""

RESERVED = {*keyword.kwlist, "cuda", "math", "min", "max", "abs"}


@dataclass(frozen=True, slots=True)
class Function:
    """What a call of a function in the text needs to know of it."""

    name: str
    python_name: str
    result: Scalar | None
    parameters: tuple[tuple[str, Type], ...]
    is_kernel: bool


@dataclass(slots=True)
class Unit:
    """What a function sees of the text around it."""

    file: str
    functions: dict[str, Function] = field(default_factory=dict)
    constants: dict[str, Value] = field(default_factory=dict)
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By function, those that it calls, each with the place of a call."""

    def error(self, node: Any, what: str) -> KernelError:
        """The error for a place in the tree; raise it."""
        place = node.coord
        return refuse(self.file, place.line if place else 1, (place and place.column) or 1, what)


class Expressions:
    """Lowers expressions; what must be done before them is emitted."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.scopes: list[Scope] = [dict(unit.constants)]
        self.names: set[str] = set()
        self.fixed: set[str] = set()  # names of Python that are never written again
        self.lines: list[tuple[int, str, int]] = []  # depth, text, line of C
        self.depth = 1
        self.line = 1

    # What is emitted

    def emit(self, text: str) -> None:
        """Append a line of Python."""
        self.lines.append((self.depth, text, self.line))

    def fresh(self, name: str) -> str:
        """A name of Python that nothing has yet, as near to `name` as may be."""
        count, found = 1, name
        while found in self.names or found in RESERVED or found in _CASTS:
            count += 1
            found = f"{name}_{count}"
        self.names.add(found)
        return found

    def temporary(self, value: Value) -> Value:
        """The value in a variable, unless it is as simple already."""
        if value.is_simple:
            return value
        name = self.fresh("value")
        self.emit(f"{name} = {value.text}")
        return Value(name, value.type)

    def captured(self, lower: Callable[[], Value]) -> tuple[Value, list[tuple[int, str, int]]]:
        """A value and the lines that it needs before it, which are not emitted, one deeper."""
        kept, self.lines = self.lines, []
        self.depth += 1
        try:
            return lower(), self.lines
        finally:
            self.depth -= 1
            self.lines = kept

    # Expressions

    def expression(self, node: Any) -> Value:
        """The value of a node; a call without one is an error."""
        value = self.effect(node)
        if value.type is None:
            raise self.unit.error(node, f"{value.text.split('(')[0]} gives no value: call it alone")
        return value

    def number(self, node: Any) -> Value:
        """The value of a node that must be a number."""
        value = self.expression(node)
        if not value.is_number:
            raise self.unit.error(
                node, f"{value.text} is an array or a pointer: index it, as in {value.text}[0]"
            )
        return value

    def effect(self, node: Any) -> Value:
        """The value of a node, of type None where it is a call of a void function."""
        method = getattr(self, f"_lower_{type(node).__name__.lower()}", None)
        if method is None:
            name = type(node).__name__
            raise self.unit.error(node, _WORDS.get(name, f"{name.lower()}{_OUTSIDE}"))
        found: Value = method(node)
        return found

    def condition(self, node: Any) -> Value:
        """Whether a node is not zero."""
        return truth(self.number(node))

    def _lower_constant(self, node: Any) -> Value:
        if node.type in ("string", "char"):
            raise self.unit.error(node, f"{node.value} is text, which kernels have none of")
        try:
            return literal(node.type, node.value)
        except (OverflowError, ValueError):
            raise self.unit.error(node, f"{node.value} is no number of the language") from None

    def _lower_id(self, node: Any) -> Value:
        for scope in reversed(self.scopes):
            if node.name in scope:
                return scope[node.name]
        if node.name in builtins.FENCES:
            return integer(builtins.FENCES[node.name])
        if node.name in self.unit.functions:
            raise self.unit.error(node, f"{node.name} is a function: call it, as {node.name}(...)")
        raise self.unit.error(node, f"{node.name} is not declared: declare it before its use")

    def _lower_arrayref(self, node: Any) -> Value:
        base, index, kind = self.address(node)
        return Value(f"{base}[{index}]", kind.element)

    def address(self, node: Any) -> tuple[str, str, Memory]:
        """Array, index and type of an element: `a[i]`, `a[i][j]`, `*p` or `*(p + i)`."""
        if type(node).__name__ == "UnaryOp" and node.op == "*":
            return self._pointed(node)
        indices = []
        while type(node).__name__ == "ArrayRef":
            indices.append(node.subscript)
            node = node.name
        array = self.expression(node)
        if array.is_number:
            raise self.unit.error(node, f"{array.text} is a number, which has no elements")
        kind = element(array)
        if len(indices) != kind.rank:
            raise self.unit.error(
                node, f"{array.text} takes {kind.rank} indices, not {len(indices)}: give them all"
            )
        texts = [self._index(each) for each in reversed(indices)]
        return array.text, ", ".join(texts), kind

    def _index(self, node: Any) -> str:
        value = self.number(node)
        if value.scalar.is_float:
            raise self.unit.error(node, f"an index is {value.scalar.name}: make it an int")
        if value.constant is not None and value.constant >= 0:
            return value.text
        return converted(value, ULONG).text  # -1 is outside in C; in Python it counts from the end

    def _pointed(self, node: Any) -> tuple[str, str, Memory]:
        inner, index = node.expr, "0"
        if type(inner).__name__ == "BinaryOp" and inner.op == "+":
            inner, index = inner.left, self._index(inner.right)
        array = self.expression(inner)
        if array.is_number or element(array).rank != 1:
            raise self.unit.error(node, f"* takes a pointer, not {array.text}")
        return array.text, index, element(array)

    def target(self, node: Any) -> Value:
        """What may be assigned to: a variable or an element."""
        if type(node).__name__ == "ID":
            found = self.number(node)
            if found.text in self.fixed or found in self.unit.constants.values():
                raise self.unit.error(node, f"{node.name} is const: it is never written")
            return found
        if type(node).__name__ != "ArrayRef" and getattr(node, "op", "") != "*":
            raise self.unit.error(node, "this cannot be assigned to: name a variable or an element")
        base, index, kind = self.address(node)
        if kind.is_const or kind.space == "constant":
            raise self.unit.error(node, f"{base} is const: it is never written")
        return Value(f"{base}[{index}]", kind.element)

    def _lower_unaryop(self, node: Any) -> Value:
        if node.op in ("++", "--", "p++", "p--"):
            return self._stepped(node)
        if node.op == "*":
            return self._lower_arrayref(node)
        if node.op not in ("+", "-", "~", "!"):
            word = "Address" if node.op == "&" else "Sizeof"
            raise self.unit.error(node, f"{node.op}{_WORDS[word]}")
        value = self.number(node.expr)
        if node.op == "~" and value.scalar.is_float:
            raise self.unit.error(node, f"~ takes an integer, not {value.scalar.name}")
        return unary(node.op, value)

    def _stepped(self, node: Any) -> Value:
        place = self._held(self.target(node.expr))
        before = place
        if node.op.startswith("p"):
            before = Value(self.fresh("value"), place.type)
            self.emit(f"{before.text} = {place.text}")
        self._store(place, arithmetic(node.op[-1], place, integer(1)))
        return before

    def _held(self, place: Value) -> Value:
        """A place whose index is computed once."""
        array, bracket, index = place.text.partition("[")
        if not bracket or index[:-1].isidentifier() or index[:-1].isdigit():
            return place
        parts = []
        for each in _split(index[:-1]):
            name = self.fresh("index")
            self.emit(f"{name} = {each}")
            parts.append(name)
        return Value(f"{array}[{', '.join(parts)}]", place.type)

    def _store(self, place: Value, value: Value) -> None:
        self.emit(f"{place.text} = {converted(value, place.scalar).text}")

    def _lower_assignment(self, node: Any) -> Value:
        if node.op == "=":
            value = self.number(node.rvalue)
            place = self.target(node.lvalue)
            self._store(place, value)
            return place
        place = self._held(self.target(node.lvalue))
        self._store(place, self._binary(node, node.op[:-1], place, self.number(node.rvalue)))
        return place

    def _lower_binaryop(self, node: Any) -> Value:
        if node.op in ("&&", "||"):
            return self._logical(node)
        return self._binary(node, node.op, self.number(node.left), self.number(node.right))

    def _binary(self, node: Any, operator: str, left: Value, right: Value) -> Value:
        if operator in COMPARISONS:
            return compared(operator, left, right)
        kind = common(left.scalar, right.scalar)
        if kind.is_float and operator not in ("+", "-", "*", "/"):
            raise self.unit.error(node, f"{operator} takes integers, not {kind.name}")
        if operator in ("<<", ">>"):
            return shifted(operator, left, right)
        if operator in ("/", "%") and right.constant == 0 and not kind.is_float:
            raise self.unit.error(
                node, f"{operator} by zero has no value: divide by another number"
            )
        if operator in ("/", "%") and kind.is_signed:
            known = left.constant is not None and right.constant is not None
            if not known:
                left, right = self.temporary(left), self.temporary(right)
        return arithmetic(operator, left, right)

    def _logical(self, node: Any) -> Value:
        left = self.condition(node.left)
        right, before = self.captured(lambda: self.condition(node.right))
        word = "and" if node.op == "&&" else "or"
        if not before:
            return Value(f"({left.text} {word} {right.text})", BOOL)
        name = self.fresh("value")
        self.emit(f"{name} = {left.text}")
        self.emit(f"if {name if node.op == '&&' else f'not {name}'}:")
        self.lines += before
        self._deeper(f"{name} = {right.text}")
        return Value(name, BOOL)

    def _deeper(self, text: str) -> None:
        self.depth += 1
        self.emit(text)
        self.depth -= 1

    def _lower_ternaryop(self, node: Any) -> Value:
        condition = self.condition(node.cond)
        one, before_one = self.captured(lambda: self.number(node.iftrue))
        other, before_other = self.captured(lambda: self.number(node.iffalse))
        kind = common(one.scalar, other.scalar)
        texts = converted(one, kind).text, converted(other, kind).text
        if not before_one and not before_other:
            return Value(f"{kind.cast}({texts[0]} if {condition.text} else {texts[1]})", kind)
        name = self.fresh("value")
        for head, before, text in (
            (f"if {condition.text}:", before_one, texts[0]),
            ("else:", before_other, texts[1]),
        ):
            self.emit(head)
            self.lines += before
            self._deeper(f"{name} = {kind.cast}({text})")
        return Value(name, kind)

    def _lower_cast(self, node: Any) -> Value:
        kind = self.type_of(node.to_type.type)
        if not isinstance(kind, Scalar):
            raise self.unit.error(node, "a cast gives a number: pointers are not cast")
        return converted(self.number(node.expr), kind)

    def _lower_exprlist(self, node: Any) -> Value:
        *before, last = node.exprs
        for each in before:
            value = self.effect(each)
            if value.type is None:
                self.emit(value.text)
        return self.effect(last)

    def type_of(self, node: Any) -> Scalar | None:
        """The number that a declaration's innermost type names; None for void."""
        words = getattr(getattr(node, "type", None), "names", None)
        try:
            return scalar(words or ["struct"])
        except KeyError as error:
            raise self.unit.error(
                node,
                f"type {error.args[0]} is outside the kernel language, which has bool, char, "
                "short, int, long, their unsigned ones, size_t, float and double",
            ) from None


def _split(text: str) -> list[str]:
    """The indices in a text, at the commas that stand in no parentheses."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]


_CASTS = {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
          "float32", "float64"}  # fmt: skip
_OUTSIDE = " is outside the kernel language"
_WORDS = {
    "Switch": f"switch{_OUTSIDE}: use if and else",
    "Goto": f"goto{_OUTSIDE}: use loops, break and continue",
    "Label": f"a label{_OUTSIDE}: use loops, break and continue",
    "StructRef": f"a member of a struct{_OUTSIDE}: use one array a member",
    "CompoundLiteral": f"a compound literal{_OUTSIDE}: declare an array",
    "InitList": f"a list of values{_OUTSIDE} but where an array is declared",
    "EllipsisParam": f"...{_OUTSIDE}: write what stands there",
    "Typename": f"a type{_OUTSIDE} as a value",
    "Typedef": f"typedef{_OUTSIDE}: write the type itself",
    "Compound": f"a block{_OUTSIDE} as a value",
    "NamedInitializer": f"a place in braces{_OUTSIDE}: give values in their order",
    "Address": f"{_OUTSIDE}, but for &a[i] in an atomic",
    "Sizeof": f"{_OUTSIDE}: write the number of bytes",
    "FuncCall": f"a call{_OUTSIDE} outside functions: write the number",
}
