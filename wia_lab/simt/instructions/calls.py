"""Calls: of stubs, operations, constructors, methods, device functions and overloads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt.frontend import DeviceFunctionType, fold_arguments, overload_of
from wia_lab.simt.instructions.arithmetic import bind_elementwise
from wia_lab.simt.instructions.exceptions import bind_exception
from wia_lab.simt.instructions.methods import bind_method, is_method
from wia_lab.simt.instructions.synchronisation import bind_grid_sync
from wia_lab.simt.instructions.tables import CALLS, expression
from wia_lab.simt.instructions.whole_arrays import bind_sum, bind_ufunc
from wia_lab.simt.program import Call
from wia_lab.simt.semantics import is_number, operation


@expression("call")
def bind_call(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    kind = builder.type_of(expr.func)
    signature = builder.calltypes[expr]
    if isinstance(kind, types.RecursiveCall):
        typed = kind.dispatcher_type.specialise(signature.args)
        passed = _arguments(builder, expr, signature)
        return _bind_device_call(builder, passed, typed, signature, target)
    if isinstance(kind, DeviceFunctionType):
        passed = _arguments(builder, expr, signature)
        typed = kind.specialise(signature.args)
        return _bind_device_call(builder, passed, typed, signature, target)
    if isinstance(kind, types.ExceptionClass):
        return bind_exception(builder, kind, expr)
    arguments = _arguments(builder, expr, signature)
    if isinstance(kind, types.BoundFunction):
        if isinstance(kind.this, types.Type) and "sync" in str(kind.typing_key):
            return bind_grid_sync(builder, target)
        this = builder.definition(expr.func).value
        typed = None if is_method(kind.typing_key) else overload_of(builder.typed, expr)
        if typed is not None:
            passed = [this, *arguments]
            return _bind_device_call(builder, passed, typed, signature, target)
        return bind_method(builder, this, kind.typing_key, arguments, signature, target)
    if isinstance(kind, types.NamedTupleClass):
        return _bind_named_tuple(builder, kind, arguments, signature)
    if isinstance(kind, types.NumberClass):
        return _bind_number_class(builder, kind, arguments, signature, target)
    key = getattr(kind, "typing_key", kind)
    return _bind_key(builder, key, expr, arguments, signature, target)


def _bind_key(
    builder: Any, key: Any, expr: ir.Expr, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    entry = CALLS.get(key) if _hashable(key) else None
    if entry is not None:
        return entry(builder, arguments, signature, target)
    if operation(key, signature) is not None:
        return bind_elementwise(builder, key, signature, tuple(arguments))
    typed = overload_of(builder.typed, expr)
    if typed is not None:
        return _bind_device_call(builder, arguments, typed, signature, target)
    if isinstance(key, np.ufunc):
        return bind_ufunc(builder, key, arguments, target)
    if key is float and isinstance(signature.args[0], types.StringLiteral):
        return _bind_float_of_text(builder, signature)
    name = getattr(key, "_name", getattr(key, "__name__", str(key)))
    if name == "_numpy_sum":
        return bind_sum(builder, arguments[0], signature, target)
    raise builder.refuse(f"the simulator does not know {name}{signature.args}")


def _bind_float_of_text(builder: Any, signature: Any) -> Any:
    """`float('inf')`: a constant, as the text is known."""
    text = signature.args[0].literal_value
    try:
        value = float(text)
    except ValueError:
        raise builder.refuse(f"float({text!r}): the text is no number") from None
    return builder.read_as(value, signature.return_type)[1]


def _hashable(key: Any) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


def _bind_number_class(
    builder: Any, kind: Any, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    """`float32(x)`: a conversion."""
    source = builder.type_of(arguments[0]) if isinstance(arguments[0], ir.Var) else None
    if source is not None and is_number(source) and len(arguments) == 1:
        builder.count("conversion")
        return builder.read_as(arguments[0], builder.type_of(target))[1]
    return bind_elementwise(builder, kind.instance_type, signature, tuple(arguments))


def _bind_named_tuple(builder: Any, kind: Any, arguments: list[Any], signature: Any) -> Any:
    make = kind.instance_class
    reads = [
        builder.read_as(argument, part)[1]
        for argument, part in zip(arguments, signature.args, strict=True)
    ]
    return lambda group: make(*(read(group) for read in reads))


def _bind_device_call(
    builder: Any, passed: list[Any], typed: Any, signature: Any, target: ir.Var
) -> None:
    """A device function: the group goes on in its first segment."""
    program = builder.library.program(typed)
    pairs = [
        builder.read_as(argument, kind)
        for argument, kind in zip(passed, typed.argument_types, strict=True)
    ]
    for position, argument in enumerate(passed):
        if position in program.written_arguments and isinstance(argument, ir.Var):
            builder.stored.add(argument.name)
    site = builder.site()
    builder.count("control")
    slots = tuple(slot for slot, _ in pairs)
    reads = tuple(read for _, read in pairs)
    builder.end(Call(program, reads, slots, builder.slot(target), site))


def _arguments(builder: Any, expr: ir.Expr, signature: Any) -> list[Any]:
    """Arguments in the order of the signature; a default is a plain constant."""
    folded = fold_arguments(expr, signature, builder.typemap)
    return [each.value if isinstance(each, ir.Const) else each for each in folded]
