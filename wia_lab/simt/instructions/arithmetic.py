"""Operators and elementwise functions: what each lane computes by itself."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt.conversions import plain_type
from wia_lab.simt.instructions.tables import call, expression
from wia_lab.simt.semantics import divisor_of, is_number, kind_of, operation


@expression("binop")
def bind_binop(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    return _bind_operator(builder, expr.fn, expr, (expr.lhs, expr.rhs), target)


@expression("inplace_binop")
def bind_inplace(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    operands = (expr.lhs, expr.rhs)
    return _bind_operator(builder, expr.immutable_fn, expr, operands, target)


@expression("unary")
def bind_unary(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    return _bind_operator(builder, expr.fn, expr, (expr.value,), target)


@expression("cast")
def bind_cast(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    _, read = builder.read_as(expr.value, builder.type_of(target))
    return read


def _bind_operator(
    builder: Any, key: Any, expr: ir.Expr, operands: tuple[ir.Var, ...], target: ir.Var
) -> Any:
    kinds = [builder.type_of(each) for each in operands]
    if key in (operator.is_, operator.is_not):
        return _bind_identity(builder, key, operands, kinds)
    if key is operator.contains and isinstance(kinds[0], types.RangeType):
        return _bind_in_range(builder, operands)
    if any(
        isinstance(kind, (types.BaseTuple, types.UnicodeType, types.StringLiteral))
        for kind in kinds
    ):
        return _bind_static(builder, key, operands)
    return bind_elementwise(builder, key, builder.calltypes[expr], operands)


def bind_elementwise(builder: Any, key: Any, signature: Any, operands: tuple[Any, ...]) -> Any:
    """Bind an operation that every lane does by itself; None if `key` is not one."""
    kinds = tuple(
        plain_type(builder.type_of(each)) if isinstance(each, ir.Var) else signature.args[i]
        for i, each in enumerate(operands)
    )
    if any(isinstance(each, types.Optional) for each in signature.args):
        signature = signature.return_type(*map(plain_type, signature.args))
    compute = operation(key, signature, kinds if all(map(is_number, kinds)) else None)
    if compute is None and any(isinstance(each, types.Array) for each in signature.args):
        raise builder.refuse(
            f"{_name(key)} of a whole array is not run by the simulator: write a loop over elements"
        )
    if compute is None:
        raise builder.refuse(f"the simulator has no operation {_name(key)} of {signature.args}")
    slots = tuple(
        builder.read_plain(each) if isinstance(each, ir.Var) else builder.read_as(each, kind)[0]
        for each, kind in zip(operands, kinds, strict=True)
    )
    builder.count(kind_of(key, signature))
    if _widens(builder, signature, operands, kinds):
        builder.segment.widened.add(builder.loc.line)
    divisor = divisor_of(key, signature)
    if divisor is not None:
        compute = _watch_division(builder, compute, divisor)
    return _caller(compute, slots, watched=divisor is not None)


def _caller(compute: Any, slots: tuple[int, ...], *, watched: bool) -> Any:
    if watched:
        return lambda group: compute(group, *(group.slots[slot] for slot in slots))
    if len(slots) == 1:
        (only,) = slots
        return lambda group: compute(group.slots[only])
    if len(slots) == 2:
        left, right = slots
        return lambda group: compute(group.slots[left], group.slots[right])
    return lambda group: compute(*(group.slots[slot] for slot in slots))


def _watch_division(builder: Any, compute: Any, divisor: int) -> Any:
    site = builder.site()

    def divide(group: Any, *operands: Any) -> Any:
        zero = operands[divisor] == 0
        if np.any(zero):
            lanes = group.bits & zero
            if lanes.any():
                group.machine.listeners.on_arithmetic_fault(site, lanes)
        return compute(*operands)

    return divide


def _widens(
    builder: Any, signature: Any, operands: tuple[Any, ...], kinds: tuple[Any, ...]
) -> bool:
    """Whether an int or a literal makes float64 work of float32 operands."""
    if len(kinds) < 2 or not any(kind in (types.float32, types.float16) for kind in kinds):
        return False
    if types.float64 not in signature.args and signature.return_type != types.float64:
        return False
    return not any(
        isinstance(each, ir.Var) and kind == types.float64 and _is_meant(builder, each)
        for each, kind in zip(operands, kinds, strict=True)
    )


def _is_meant(builder: Any, variable: ir.Var) -> bool:
    """A float64 that was loaded, passed, or asked for by name."""
    value = builder.definition(variable)
    if isinstance(value, ir.Arg):
        return True
    if not isinstance(value, ir.Expr):
        return False
    if value.op == "call":
        return isinstance(builder.type_of(value.func), types.NumberClass)
    return value.op in ("getitem", "static_getitem", "getattr")


def _bind_identity(builder: Any, key: Any, operands: tuple[ir.Var, ...], kinds: list[Any]) -> Any:
    negate = key is operator.is_not
    for this, other, kind in ((0, 1, kinds[1]), (1, 0, kinds[0])):
        if isinstance(kind, types.NoneType):
            of = kinds[this]
            if isinstance(of, types.Optional):
                slot = builder.read(operands[this])
                return lambda group: np.logical_xor(
                    np.logical_not(group.slots[slot].present), negate
                )
            answer = np.bool_(isinstance(of, types.NoneType) != negate)
            del other
            return lambda _: answer
    left, right = (builder.read(each) for each in operands)
    compare = operator.ne if negate else operator.eq
    return lambda group: compare(group.slots[left], group.slots[right])


def _bind_static(builder: Any, key: Any, operands: tuple[ir.Var, ...]) -> Any:
    """Operators on tuples and strings: joined, repeated, compared part by part."""
    slots = tuple(builder.read(each) for each in operands)
    comparisons = {
        operator.eq: _equal,
        operator.ne: lambda a, b: np.logical_not(_equal(a, b)),
        operator.contains: lambda a, b: _any(_equal(each, b) for each in a),
        operator.lt: lambda a, b: _less(a, b, strict=True),
        operator.le: lambda a, b: _less(a, b, strict=False),
        operator.gt: lambda a, b: _less(b, a, strict=True),
        operator.ge: lambda a, b: _less(b, a, strict=False),
    }
    function = comparisons.get(key, key)
    return lambda group: function(*(group.slots[slot] for slot in slots))


def _bind_in_range(builder: Any, operands: tuple[ir.Var, ...]) -> Any:
    """`value in range(...)`."""
    source, value = (builder.read(each) for each in operands)

    def inside(group: Any) -> Any:
        found, number = group.slots[source], group.slots[value]
        steps = (number - found.next) // found.step
        exact = found.next + steps * found.step == number
        return exact & (steps >= 0) & (steps < found.left)

    return inside


def _equal(left: Any, right: Any) -> Any:
    if isinstance(left, tuple) and isinstance(right, tuple):
        if len(left) != len(right):
            return np.bool_(False)
        result: Any = np.bool_(True)
        for a, b in zip(left, right, strict=True):
            result = result & _equal(a, b)
        return result
    if isinstance(left, str) or isinstance(right, str):
        return np.bool_(left == right)
    return np.equal(left, right)


def _any(parts: Any) -> Any:
    result: Any = np.bool_(False)
    for part in parts:
        result = result | part
    return result


def _less(left: tuple, right: tuple, *, strict: bool) -> Any:
    result: Any = np.bool_(len(left) < len(right) or (not strict and len(left) == len(right)))
    for a, b in reversed(list(zip(left, right, strict=False))):
        result = np.less(a, b) | (np.equal(a, b) & result)
    return result


def _name(key: Any) -> str:
    return getattr(key, "__name__", str(key))


@call(bool)
def bind_bool(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    kind = builder.type_of(arguments[0])
    if isinstance(kind, types.BaseTuple):
        answer = np.bool_(len(kind) > 0)
        return lambda _: answer
    if isinstance(kind, types.NoneType):
        return lambda _: np.bool_(False)
    slot = builder.read(arguments[0])
    if kind == types.boolean or isinstance(kind, types.BooleanLiteral):
        return lambda group: group.slots[slot]
    return lambda group: np.not_equal(group.slots[slot], 0)
