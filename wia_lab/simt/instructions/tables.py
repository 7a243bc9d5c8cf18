"""The tables of instructions, and the one function that looks them up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numba.core import ir, types

from wia_lab.simt.constants import literal
from wia_lab.simt.conversions import conversion
from wia_lab.simt.values import UNSET, Partial

if TYPE_CHECKING:
    from wia_lab.simt.build import Builder
    from wia_lab.simt.program import Compute

Bind = Callable[..., Any]

STATEMENTS: dict[type, Bind] = {}
EXPRESSIONS: dict[str, Bind] = {}
ATTRIBUTES: dict[type, Bind] = {}
CALLS: dict[Any, Bind] = {}
METHODS: dict[str, Bind] = {}


def statement(kind: type) -> Callable[[Bind], Bind]:
    """Register how a statement of IR class `kind` is bound: `f(builder, inst)`."""
    return _register(STATEMENTS, kind)


def expression(*operations: str) -> Callable[[Bind], Bind]:
    """Register how an expression is bound: `f(builder, expr, target)` returns a compute."""
    return _register(EXPRESSIONS, *operations)


def attribute(*kinds: type) -> Callable[[Bind], Bind]:
    """Register attribute reads of a Numba type: `f(builder, expr, target)` returns a compute."""
    return _register(ATTRIBUTES, *kinds)


def call(*keys: Any) -> Callable[[Bind], Bind]:
    """Register a call: `f(builder, arguments, signature, target)` returns a compute.

    `arguments` are IR variables or constants in the order of the signature.
    """
    return _register(CALLS, *keys)


def method(*names: str) -> Callable[[Bind], Bind]:
    """Register a method by the end of its key: `f(builder, this, arguments, signature, target)`."""
    return _register(METHODS, *names)


def _register(table: dict[Any, Bind], *keys: Any) -> Callable[[Bind], Bind]:
    def add(function: Bind) -> Bind:
        for key in keys:
            table[key] = function
        return function

    return add


def bind(builder: Builder, inst: ir.Stmt) -> None:
    """Bind one instruction: add its steps to the builder's segment."""
    if isinstance(inst, ir.Del):
        return
    if isinstance(inst, ir.Assign):
        bind_assign(builder, inst)
        return
    entry = STATEMENTS.get(type(inst))
    if entry is None:
        raise builder.refuse(f"the simulator does not run this statement: {inst}")
    entry(builder, inst)


def bind_assign(builder: Builder, inst: ir.Assign) -> None:
    """Bind `target = value`."""
    value, target = inst.value, inst.target
    if isinstance(value, ir.Arg):
        return
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
        _bind_constant(builder, target, value.value)
    elif isinstance(value, ir.Var):
        _bind_copy(builder, target, value)
    elif isinstance(value, ir.Expr):
        _bind_expression(builder, target, value)
    else:
        raise builder.refuse(f"the simulator does not run this assignment: {inst}")


def _bind_constant(builder: Builder, target: ir.Var, value: Any) -> None:
    constant = literal(value, builder.type_of(target))
    slot = builder.slot(target)
    if target.name in builder.undominated:
        builder.emit(slot, lambda _: constant)
    else:
        builder.program.initial[slot] = constant


def _bind_copy(builder: Builder, target: ir.Var, value: ir.Var) -> None:
    source = builder.slot(value)
    builder.note_read(source)
    convert = conversion(builder.type_of(value), builder.type_of(target))
    if convert is None:
        builder.emit(builder.slot(target), lambda group: group.slots[source])
        return

    def compute(group: Any) -> Any:
        found = group.slots[source]
        if found is UNSET:
            return UNSET
        if isinstance(found, Partial):
            return Partial(convert(found.value), found.defined)
        return convert(found)

    builder.emit(builder.slot(target), compute)


def _bind_expression(builder: Builder, target: ir.Var, value: ir.Expr) -> None:
    if value.op == "phi":
        builder.slot(target)
        return
    entry = EXPRESSIONS.get(value.op)
    if entry is None:
        raise builder.refuse(f"the simulator does not run {value.op!r}: {value}")
    compute: Compute | None = entry(builder, value, target)
    if compute is not None:
        builder.emit(builder.slot(target), compute)


def is_static(numba_type: types.Type) -> bool:
    """Whether values of a type are known when the program is built: functions, modules, None."""
    return isinstance(
        numba_type, (types.Function, types.Module, types.Dispatcher, types.NumberClass, types.DType)
    )
