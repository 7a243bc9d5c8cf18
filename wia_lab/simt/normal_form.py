"""Small changes to typed IR that spare its readers a case each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba.core import ir, types
from numba.core.typing.templates import signature

if TYPE_CHECKING:
    from wia_lab.simt.device_functions import TypedFunction


def spread(typed: TypedFunction) -> None:
    """Write `f(*t)` as `f(t[0], t[1])`: the length of a tuple is known."""
    for block in typed.ir.blocks.values():
        for statement in list(block.find_insts(ir.Assign)):
            call = statement.value
            if isinstance(call, ir.Expr) and call.op == "call" and call.vararg is not None:
                items = _items(typed, call.vararg, block.scope, statement.target.name)
                place = block.body.index(statement)
                block.body[place:place] = items
                call.args = [*call.args, *(item.target for item in items)]
                call.vararg = None


def _items(typed: TypedFunction, whole: ir.Var, scope: ir.Scope, prefix: str) -> list[ir.Assign]:
    kind = typed.typemap[whole.name]
    items = []
    for index, element in enumerate(kind):
        target = ir.Var(scope, f"{prefix}.item{index}", whole.loc)
        value = ir.Expr.static_getitem(whole, index, None, whole.loc)
        typed.typemap[target.name] = element
        typed.calltypes[value] = signature(element, kind, types.literal(index))
        typed.ir._definitions[target.name].append(value)
        items.append(ir.Assign(value, target, whole.loc))
    return items


def freeze(typed: TypedFunction) -> None:
    """Replace arrays among globals and closure values by copies: they are constants."""
    for block in typed.ir.blocks.values():
        for statement in block.body:
            value = getattr(statement, "value", None)
            if isinstance(value, ir.Global | ir.FreeVar) and isinstance(value.value, np.ndarray):
                value.value = value.value.copy(order="K")
                value.value.flags.writeable = False
