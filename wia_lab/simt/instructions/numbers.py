"""Attributes of numbers: the parts of a complex one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir, types


def bind_number_attribute(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    """`.real` and `.imag` of a number, and the value of an enumeration's member."""
    kind = builder.type_of(expr.value)
    if isinstance(builder.type_of(target), types.BoundFunction) or expr.attr == "value":
        slot = builder.read(expr.value)
        return lambda group: group.slots[slot]
    if expr.attr not in ("real", "imag"):
        raise builder.refuse(f"the simulator does not know the attribute .{expr.attr} of {kind}")
    slot = builder.read(expr.value)
    part = np.real if expr.attr == "real" else np.imag
    builder.count("conversion")

    def read(group: Any) -> Any:
        value = group.slots[slot]
        found = part(value)
        return (
            found if isinstance(value, np.ndarray) else value.dtype.type(0).real.dtype.type(found)
        )

    return read
