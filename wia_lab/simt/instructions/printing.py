"""print: one line a thread, shown after the launch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt.instructions.tables import call, statement


@statement(ir.Print)
def bind_print(builder: Any, inst: ir.Print) -> None:
    _emit(builder, list(inst.args))


@call(print)
def bind_print_call(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> None:
    _emit(builder, arguments)
    builder.program.initial[builder.slot(target)] = None


def _emit(builder: Any, arguments: list[Any]) -> None:
    reads = []
    for argument in arguments:
        kind = builder.type_of(argument) if isinstance(argument, ir.Var) else None
        if isinstance(kind, types.StringLiteral):
            reads.append(_constant(kind.literal_value))
        elif kind is None:
            reads.append(_constant(argument))
        else:
            slot = builder.read(argument)
            reads.append(lambda group, slot=slot: group.slots[slot])

    def run(group: Any) -> None:
        values = [read(group) for read in reads]
        for lane in np.flatnonzero(group.bits):
            words = (_word(value, lane) for value in values)
            group.machine.output.append((int(lane), " ".join(words)))

    builder.emit(-1, run)


def _constant(value: Any) -> Any:
    return lambda _: value


def _word(value: Any, lane: int) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(_word(part, lane) for part in value) + ")"
    found = value[lane] if isinstance(value, np.ndarray) else value
    if isinstance(found, (np.floating, float)):
        return f"{float(found):f}"  # as the device's printf writes it
    return str(found)
