"""Constants of the source as lane values."""

from __future__ import annotations

import enum
from typing import Any

import numba
import numpy as np
from numba.core import types

from wia_lab.simt.memory import Space
from wia_lab.simt.semantics import dtype_of, is_number
from wia_lab.simt.values import View


def literal(value: Any, numba_type: types.Type) -> Any:
    """A constant of the source, or a frozen global, as all lanes hold it."""
    if isinstance(value, np.ndarray):
        return constant_array(value)
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(numba_type, types.Omitted) and isinstance(value, int | float | complex):
        numba_type = numba.typeof(value)  # a default joins with computed values like any other
    if is_number(numba_type) and not isinstance(value, str):
        return dtype_of(numba_type).type(value)
    if isinstance(value, tuple) and isinstance(numba_type, types.BaseTuple):
        parts = [literal(each, kind) for each, kind in zip(value, numba_type, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def constant_array(array: np.ndarray) -> View:
    """A frozen global array, in constant memory: later changes on the host are not seen."""
    frozen = np.array(array, order="C")
    data = np.frombuffer(frozen.tobytes() + bytes(16), np.uint8)
    from wia_lab.simt.machine import contiguous

    strides = contiguous(frozen.shape, frozen.itemsize)
    space = Space(
        kind="const",
        name="constant array",
        dtype=frozen.dtype,
        shape=frozen.shape,
        strides=strides,
        origin=0,
        data=data,
        stride=data.nbytes,
        base=0,
        granule=frozen.itemsize,
        written=False,
    )
    return View(space, frozen.dtype, 0, frozen.shape, strides)
