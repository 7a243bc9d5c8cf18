"""From a call that Numba typed to what computes it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numba import errors, types

from wia_lab.simt.semantics import (  # noqa: F401 (each fills the table)
    arithmetic,
    bits,
    division,
    exact,
    halves,
    libdevice,
    libdevice_integers,
    mathematics,
    powers,
    selection,
    ufuncs,
)
from wia_lab.simt.semantics.dtypes import NUMBERS, dtype_of, is_number
from wia_lab.simt.semantics.table import TABLE, Compute, Typed, bind
from wia_lab.simt.stubs import Stub


def operation(key: Any, signature: Any, operands: tuple[Any, ...] | None = None) -> Compute | None:
    """Return what computes a typed call on raw operands, or None if it is not elementwise.

    Parameters
    ----------
    key
        What is called: an operator, a function of `math` or NumPy, a number type, a stub, or
        "real", "imag" and "conjugate" for the attributes of numbers.
    signature : numba Signature
        The types that Numba chose.
    operands : tuple of numba types, optional
        Types of the variables passed, if known: spares a check of each operand at run time.

    Returns
    -------
    callable or None
        Takes lanes of the variables' dtypes; returns lanes of the dtype of
        `signature.return_type`, or a tuple of them for a tuple.
    """
    name = name_of(key)
    if name in libdevice.MISSING:
        raise errors.UnsupportedError(
            f"the simulator does not compute cuda.{name}: "
            "use another formula, or launch the kernel on hardware"
        )
    builder = TABLE.get(name)
    if builder is None or not all(map(is_number, signature.args)):
        return None
    return bind(builder(typed_of(signature)), operands and tuple(map(dtype_of, operands)))


def name_of(key: Any) -> Any:
    """Return the key of the table: stubs stand there by their dotted names."""
    if isinstance(key, Stub):
        return key.__qualname__
    if isinstance(key, type) and issubclass(key, np.generic):
        return key if key in TABLE else int  # any constructor: the signature has its type
    if getattr(getattr(key, "instance_type", key), "name", None) in NUMBERS:
        return int
    return key if isinstance(key, Hashable) else None


def typed_of(signature: Any) -> Typed:
    """Return the dtypes of a signature whose arguments are numbers."""
    returned = signature.return_type
    result: Any
    if isinstance(returned, types.BaseTuple):
        result = tuple(map(dtype_of, returned))
    else:
        result = dtype_of(returned)
    return Typed(tuple(map(dtype_of, signature.args)), result)
