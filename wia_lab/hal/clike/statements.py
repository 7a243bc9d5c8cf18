"""Statements of C as lines of Python, each with the line of C that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wia_lab.hal.clike.calls import Calls
from wia_lab.hal.clike.source import SPACES
from wia_lab.hal.clike.types import Memory, Scalar
from wia_lab.hal.clike.values import Value, converted, negated

if TYPE_CHECKING:
    from wia_lab.hal.clike.expressions import Scope, Unit


class Statements(Calls):
    """Lowers the body of one function."""

    def __init__(self, unit: Unit, function: str, result: Scalar | None) -> None:
        super().__init__(unit)
        self.function, self.result = function, result
        self._again: list[tuple[Callable[[], None], list[Scope]]] = []
        """What each loop around does at `continue`, and the scopes that it stands in."""

    def statement(self, node: Any) -> None:
        """Emit one statement."""
        self.line = node.coord.line if node.coord else self.line
        method = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node)
            return
        value = self.effect(node)
        if value.type is None:
            self.emit(value.text)

    def block(self, node: Any) -> None:
        """Emit a statement one deeper, in a scope of its own; `pass` where it is empty."""
        self.depth += 1
        before = len(self.lines)
        self.scopes.append({})
        if node is not None:
            self.statement(node)
        self.scopes.pop()
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1

    def _do_compound(self, node: Any) -> None:
        self.scopes.append({})
        for each in node.block_items or []:
            self.statement(each)
        self.scopes.pop()

    def _do_emptystatement(self, node: Any) -> None:
        """Nothing."""

    def _do_decllist(self, node: Any) -> None:
        for each in node.decls:
            self.statement(each)

    def declared(self, node: Any, name: str, value: Value, *, is_const: bool) -> str:
        """Enter a name of the text with the type of `value`; returns the one it has in Python."""
        if name in self.scopes[-1]:
            raise self.unit.error(
                node, f"{name} is declared twice in one block: give the second another name"
            )
        python = self.fresh(name)
        self.scopes[-1][name] = Value(python, value.type)
        if is_const:
            self.fixed.add(python)
        return python

    def _do_decl(self, node: Any) -> None:
        if node.storage:
            raise self.unit.error(node, f"{node.storage[0]} is outside the kernel language here")
        if type(node.type).__name__ in ("Enum", "Struct", "Union"):
            what = type(node.type).__name__.lower()
            raise self.unit.error(node, f"{what} is outside the kernel language: use numbers")
        if type(node.type).__name__ == "ArrayDecl":
            self._array(node)
            return
        if type(node.type).__name__ != "TypeDecl":
            raise self.unit.error(
                node, f"{node.name} is a pointer: pointers are parameters alone; index the array"
            )
        if any(each in SPACES for each in node.quals):
            raise self.unit.error(node, f"{node.name} is one number: declare __local an array")
        kind = self.type_of(node.type)
        if kind is None:
            raise self.unit.error(node, f"{node.name} cannot be void")
        if node.init is not None and _mentions(node.init, node.name):
            raise self.unit.error(
                node, f"{node.name} stands in its own first value, where it has none yet"
            )
        value = None if node.init is None else self.number(node.init)
        name = self.declared(node, node.name, Value("", kind), is_const="const" in node.quals)
        if value is not None:
            self.emit(f"{name} = {_typed(converted(value, kind), kind)}")

    def _array(self, node: Any) -> None:
        inner = node.type
        extents: list[int] = []
        while type(inner).__name__ == "ArrayDecl":
            given = getattr(node.init, "exprs", [])
            if inner.dim is None and not extents and given:
                extent: int | None = len(given)  # int a[] = {1, 2, 3};
            else:
                extent = None if inner.dim is None else self.number(inner.dim).constant
            if extent is None or extent < 1:
                raise self.unit.error(
                    node, f"{node.name}: each extent of an array is a constant from 1 on"
                )
            extents.append(extent)
            inner = inner.type
        kind = self.type_of(inner)
        if kind is None or type(inner).__name__ != "TypeDecl":
            raise self.unit.error(node, f"{node.name}: an array has numbers for elements")
        spaces = [SPACES[each] for each in node.quals if each in SPACES]
        if spaces not in ([], ["local"]):
            raise self.unit.error(node, f"{node.name}: a function declares local or private arrays")
        space = "local" if spaces else "private"
        memory = Memory(kind, space, len(extents), is_const="const" in node.quals)
        name = self.declared(node, node.name, Value("", memory), is_const=False)
        made = "shared" if spaces else "local"
        shape = str(extents[0]) if len(extents) == 1 else f"({', '.join(map(str, extents))})"
        self.emit(f"{name} = cuda.{made}.array({shape}, {kind.cast})")
        if node.init is not None:
            self._initialised(node, name, kind, extents, space)

    def _initialised(
        self, node: Any, name: str, kind: Scalar, extents: list[int], space: str
    ) -> None:
        """Each element its value, and zero to those for which none is given."""
        given = getattr(node.init, "exprs", None)
        if space != "private" or len(extents) != 1 or given is None or len(given) > extents[0]:
            raise self.unit.error(
                node, f"{name}: values in braces are for private arrays of one extent, at most one "
                "for each element"
            )  # fmt: skip
        for each in given:
            if type(each).__name__ in ("NamedInitializer", "InitList"):
                raise self.unit.error(node, f"{name}: its values are numbers, in their order")
        for place in range(extents[0]):
            value = self.number(given[place]) if place < len(given) else None
            text = "0" if value is None else converted(value, kind).text
            self.emit(f"{name}[{place}] = {text}")

    def _do_if(self, node: Any) -> None:
        self.emit(f"if {self.condition(node.cond).text}:")
        self.block(node.iftrue)
        if node.iffalse is not None:
            self.emit("else:")
            self.block(node.iffalse)

    def _do_while(self, node: Any) -> None:
        self._loop(node, node.cond, lambda: None)

    def _do_for(self, node: Any) -> None:
        self.scopes.append({})
        if node.init is not None:
            self.statement(node.init)
        self.line = line = node.coord.line

        def step() -> None:
            if node.next is not None:
                before, self.line = self.line, line
                value = self.effect(node.next)
                if value.type is None:
                    self.emit(value.text)
                self.line = before

        self._loop(node, node.cond, step)
        self.scopes.pop()

    def _loop(self, node: Any, condition: Any, step: Callable[[], None]) -> None:
        if condition is None:
            test, before = Value("True", None), list[tuple[int, str, int]]()
        else:
            test, before = self.captured(lambda: self.condition(condition))
        self.emit("while True:" if before else f"while {test.text}:")
        if before:
            self.lines += before
            self._deeper(f"if {negated(test).text}:")
            self.depth += 1
            self._deeper("break")
            self.depth -= 1
        self._again.append((step, [*self.scopes]))
        self.block(node.stmt)
        self._again.pop()
        self.depth += 1
        step()
        self.depth -= 1

    def _do_dowhile(self, node: Any) -> None:
        def test() -> None:
            self.emit(f"if {negated(self.condition(node.cond)).text}:")
            self._deeper("break")

        self.emit("while True:")
        self._again.append((test, [*self.scopes]))
        self.block(node.stmt)
        self._again.pop()
        self.depth += 1
        test()
        self.depth -= 1

    def _do_continue(self, node: Any) -> None:
        if not self._again:
            raise self.unit.error(node, "continue stands in no loop")
        step, scopes = self._again[-1]
        kept, self.scopes = self.scopes, scopes  # a name may mean something else inside the loop
        step()
        self.scopes = kept
        self.emit("continue")

    def _do_break(self, node: Any) -> None:
        if not self._again:
            raise self.unit.error(node, "break stands in no loop")
        self.emit("break")

    def _do_return(self, node: Any) -> None:
        if node.expr is None or self.result is None:
            if (node.expr is None) != (self.result is None):
                raise self.unit.error(
                    node, "return with a value is for a function that has one, and only for it"
                )
            self.emit("return")
            return
        value = converted(self.number(node.expr), self.result)
        self.emit(f"return {_typed(value, self.result)}")


def ends(node: Any) -> bool:
    """Whether a statement always ends in a return."""
    kind = type(node).__name__
    if kind == "Compound":
        return bool(node.block_items) and ends(node.block_items[-1])
    if kind == "If":
        return node.iffalse is not None and ends(node.iftrue) and ends(node.iffalse)
    return kind == "Return"


def _mentions(node: Any, name: str) -> bool:
    """Whether a name stands anywhere in an expression."""
    if type(node).__name__ == "ID":
        return bool(node.name == name)
    return any(_mentions(child, name) for _, child in node.children())


def _typed(value: Value, kind: Scalar) -> str:
    """Text that has the type also where it is a constant."""
    return value.text if value.text.startswith(f"{kind.cast}(") else f"{kind.cast}({value.text})"
