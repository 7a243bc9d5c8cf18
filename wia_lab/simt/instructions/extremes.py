"""min and max of any number of values, or of a tuple."""

from __future__ import annotations

import builtins
from typing import Any

from numba.core import ir, types
from numba.core.typing import signature as make_signature

from wia_lab.simt.instructions.arithmetic import bind_elementwise
from wia_lab.simt.instructions.tables import CALLS
from wia_lab.simt.semantics import operation


def _bind(key: Any) -> Any:
    def bind(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
        if len(arguments) == 1 and isinstance(arguments[0], tuple):
            arguments = list(arguments[0])
        kinds = [builder.type_of(each) for each in arguments]
        result = signature.return_type
        if len(arguments) == 1 and isinstance(kinds[0], types.BaseTuple):
            chosen = operation(key, make_signature(result, *kinds[0]))
            slot = builder.read(arguments[0])
            return lambda group: chosen(*group.slots[slot])
        return bind_elementwise(builder, key, make_signature(result, *kinds), tuple(arguments))

    return bind


CALLS[builtins.min] = _bind(builtins.min)
CALLS[builtins.max] = _bind(builtins.max)
