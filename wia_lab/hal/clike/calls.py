"""Calls: of the text's own functions, of OpenCL C's, and atomics."""

from __future__ import annotations

from typing import Any

from wia_lab.hal.clike import builtins
from wia_lab.hal.clike.expressions import Expressions, Function
from wia_lab.hal.clike.types import Memory, Scalar, Type
from wia_lab.hal.clike.values import Value, converted, element, integer
from wia_lab.wording import counted


class Calls(Expressions):
    """Lowers calls. What has an effect, or is to happen once, becomes a statement."""

    function = ""  # whose body it is

    def _lower_funccall(self, node: Any) -> Value:
        name = getattr(node.name, "name", None)
        given = node.args.exprs if node.args else []
        if name in builtins.ATOMICS:
            return self._atomic(node, name, given)
        arguments = [self.expression(each) for each in given]
        if name in self.unit.functions:
            return self._call(node, self.unit.functions[name], given, arguments)
        try:
            if name in builtins.PLACES:
                return builtins.place(name, arguments)
            if name in builtins.BARRIERS:
                return self._barrier(name, arguments)
            if name in builtins.FLOATING or name in builtins.INTEGER:
                return builtins.function(name, arguments)
        except builtins.Misuse as misuse:
            raise self.unit.error(node, misuse.what) from None
        raise self.unit.error(
            node,
            f"{name} is no function of the text or of the kernel language, which has "
            f"{', '.join(builtins.NAMES)}",
        )

    def _barrier(self, name: str, arguments: list[Value]) -> Value:
        flags = arguments[0].constant if len(arguments) == 1 else None
        if flags not in (1, 2, 3):
            fences = " or ".join(builtins.FENCES)
            raise builtins.Misuse(f"{name} takes {fences}, or both with |")
        return Value(builtins.BARRIERS[name][flags > 1], None)

    def _call(self, node: Any, callee: Function, given: list[Any], values: list[Value]) -> Value:
        self.unit.calls.setdefault(self.function, {}).setdefault(callee.name, node)
        if callee.is_kernel:
            raise self.unit.error(node, f"{callee.name} is a kernel: kernels are launched")
        if len(values) != len(callee.parameters):
            takes = counted(len(callee.parameters), "argument")
            raise self.unit.error(node, f"{callee.name} takes {takes}, not {len(values)}")
        texts = []
        for place, value, (name, kind) in zip(given, values, callee.parameters, strict=True):
            if isinstance(kind, Scalar) and value.is_number:
                texts.append(f"{kind.cast}({converted(value, kind).text})")
            elif isinstance(kind, Memory) and _fits(value.type, kind):
                texts.append(value.text)
            else:
                raise self.unit.error(
                    place, f"{callee.name} cannot take {value.text} as its {name}: other types"
                )
        text = f"{callee.python_name}({', '.join(texts)})"
        if callee.result is None:
            return Value(text, None)
        name = self.fresh("value")
        self.emit(f"{name} = {text}")
        return Value(name, callee.result)

    def _atomic(self, node: Any, name: str, given: list[Any]) -> Value:
        first = given[0] if given else node
        if getattr(first, "op", None) == "&":
            first = first.expr
            base, index, kind = self.address(first)
        else:
            array = self.expression(first) if given else integer(0)
            if array.is_number:
                raise self.unit.error(node, f"{name} takes an address, as in {name}(&a[i], 1)")
            base, index, kind = array.text, "0", element(array)
        if kind.is_const or kind.space in ("constant", "private"):
            raise self.unit.error(node, f"{name}: {base} is {kind.space} or const memory")
        values = [self.number(each) for each in given[1:]]
        key = f"({index})" if "," in index else index
        try:
            done = builtins.atomic(name, base, key, kind.element, values)
        except builtins.Misuse as misuse:
            raise self.unit.error(node, misuse.what) from None
        old = Value(self.fresh("value"), kind.element)
        self.emit(f"{old.text} = {done.text}")
        return old


def _fits(kind: Type, wanted: Memory) -> bool:
    return (
        isinstance(kind, Memory)
        and (kind.element, kind.rank) == (wanted.element, wanted.rank)
        and wanted.space in (kind.space, "private")
        and (wanted.is_const or not kind.is_const)
    )
