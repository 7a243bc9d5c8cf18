"""raise and assert: the thread ends; with debug=True the host gets the exception."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir


def bind_raise(builder: Any, inst: Any) -> Any:
    """A function of the group that makes the exception."""
    if isinstance(inst, ir.StaticRaise):
        kind, arguments = inst.exc_class, tuple(inst.exc_args or ())
        if kind is None:
            return lambda _: RuntimeError("raise without an exception")
        return lambda _: kind(*arguments)
    if isinstance(inst, ir.DynamicRaise):
        return _bind_dynamic(builder, inst)
    if isinstance(inst, ir.Raise):
        slot = (
            builder.slot(inst.exception) if inst.exception is not None else builder.constant(None)
        )

        def make(group: Any) -> BaseException:
            found = group.slots[slot]
            if isinstance(found, BaseException):
                return found
            if isinstance(found, type) and issubclass(found, BaseException):
                return found()
            return RuntimeError("exception raised in the kernel")

        return make
    raise builder.refuse(f"the simulator does not run this end of a block: {inst}")


def _bind_dynamic(builder: Any, inst: ir.DynamicRaise) -> Any:
    """An exception whose arguments are computed: those of the first thread that raises it."""
    slots = [
        builder.read(each) if isinstance(each, ir.Var) else builder.constant(each)
        for each in inst.exc_args or ()
    ]

    def make(group: Any) -> BaseException:
        lane = int(np.argmax(group.bits))
        values = (group.slots[slot] for slot in slots)
        return inst.exc_class(*(v[lane] if isinstance(v, np.ndarray) else v for v in values))

    return make


def bind_exception(builder: Any, kind: Any, expr: ir.Expr) -> Any:
    """`ValueError("...")`: the exception, with the arguments of the group's first lane."""
    slots = [builder.read(each) for each in expr.args]

    def make(group: Any) -> BaseException:
        lane = int(np.argmax(group.bits))
        values = (group.slots[slot] for slot in slots)
        return kind.exc_class(*(v[lane] if isinstance(v, np.ndarray) else v for v in values))

    return make
