"""raise and assert: the thread ends; with debug=True the host gets the exception."""

from __future__ import annotations

from typing import Any

from numba.core import ir


def bind_raise(builder: Any, inst: Any) -> Any:
    """A function of the group that makes the exception."""
    if isinstance(inst, ir.StaticRaise):
        kind, arguments = inst.exc_class, tuple(inst.exc_args or ())
        if kind is None:
            return lambda _: RuntimeError("raise without an exception")
        return lambda _: kind(*arguments)
    if isinstance(inst, ir.Raise):
        slot = builder.slot(inst.exception) if inst.exception is not None else builder.constant(None)

        def make(group: Any) -> BaseException:
            found = group.slots[slot]
            if isinstance(found, BaseException):
                return found
            if isinstance(found, type) and issubclass(found, BaseException):
                return found()
            return RuntimeError("exception raised in the kernel")

        return make
    raise builder.refuse(f"the simulator does not run this end of a block: {inst}")
