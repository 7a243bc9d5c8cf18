"""From a call that Numba typed to what computes it, and to what a profiler calls it."""

from __future__ import annotations

import operator
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
from wia_lab.simt.semantics.dtypes import dtype_of, is_number
from wia_lab.simt.semantics.table import TABLE, Compute, Typed, bind
from wia_lab.simt.stubs import Stub


def operation(
    key: Any, signature: Any, operands: tuple[Any, ...] | None = None
) -> Compute | None:
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
    name = _name(key)
    if name in libdevice.MISSING:
        raise errors.UnsupportedError(
            f"the simulator does not compute cuda.{name}: "
            "use another formula, or launch the kernel on hardware"
        )
    builder = TABLE.get(name)
    if builder is None or not all(map(is_number, signature.args)):
        return None
    plan = builder(_typed(signature))
    if plan is None:
        return None
    return bind(plan, operands and tuple(map(dtype_of, operands)))


_DIVISIONS = {
    *(operator.truediv, operator.itruediv, operator.floordiv, operator.ifloordiv),
    *(operator.mod, operator.imod, divmod),
    *(np.true_divide, np.floor_divide, np.remainder, np.fmod, np.divmod),
    "fp16.hdiv",
}


def divisor_of(key: Any, signature: Any) -> int | None:
    """Return the position of the operand that a call divides by, or None if it does not divide."""
    divides = _name(key) in _DIVISIONS and all(map(is_number, signature.args))
    return 1 if divides else None


def _name(key: Any) -> Any:
    """Return the key of the table: stubs stand there by their dotted names."""
    if isinstance(key, Stub):
        return key.__qualname__
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _typed(signature: Any) -> Typed:
    returned = signature.return_type
    result: Any
    if isinstance(returned, types.BaseTuple):
        result = tuple(map(dtype_of, returned))
    else:
        result = dtype_of(returned)
    return Typed(tuple(map(dtype_of, signature.args)), result)


_COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
_CONVERSIONS = {int, float, bool, complex, round, operator.truth, operator.pos}


def kind_of(key: Any, signature: Any) -> str:
    """Return what a profiler counts a call as.

    "conversion"; else "float64" for whatever computes in float64 or complex128; "special" for a
    function of `math` and its like in a narrower float; "float32" or "float16" for arithmetic;
    "logic" where only booleans meet, and comparisons of integers; else "integer".
    """
    name = _name(key)
    typed = _typed(signature)
    dtypes = set(typed.args) | (set(typed.result) if isinstance(typed.result, tuple) else {typed.result})
    if name in _CONVERSIONS or isinstance(key, (types.Type, type)):
        return "conversion"
    names = {str(dtype) for dtype in dtypes}
    if names & {"float64", "complex128"}:
        return "float64"
    if names & {"float32", "complex64", "float16"}:
        if getattr(key, "__module__", None) == "math" and name not in {}:
            return "special"
        return "float32" if names & {"float32", "complex64"} else "float16"
    return "logic" if names == {"bool"} or name in _COMPARISONS else "integer"
