"""What tells a function of a kernel from another: its code, and the values that it reads.

Globals and closure values count, and what the functions among them read in turn. So a changed
constant or a redefined helper makes a new function, and a cell run again without change does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numba.core import types


class Declared(NamedTuple):
    """An explicit signature; `result` is None where none was written."""

    arguments: tuple[types.Type, ...]
    result: types.Type | None


def declared(function: Any) -> tuple[Declared, ...]:
    """Signatures that a decorated function is bound to."""
    if not hasattr(function, "nopython_signatures"):  # wia_lab's own, or a plain function
        given = getattr(function, "signatures", ())
        return tuple(Declared(tuple(each.arguments), each.result) for each in given)
    if function._can_compile:
        return ()
    if not hasattr(function, "compile_device"):
        raise ValueError("using cpu function on device but its compilation is disabled")
    return tuple(
        Declared(tuple(each.args), each.return_type) for each in function.nopython_signatures
    )


def _bound(function: Any) -> tuple[Declared, ...] | None:
    """Signatures of a function; None if it has no device function (see `declared`)."""
    try:
        return declared(function)
    except ValueError:
        return None


def token(value: object, held: list[object], open_functions: list[object]) -> object:
    """What tells `value` from others when read by a kernel; `held` keeps identities valid."""
    source = value if isinstance(value, FunctionType) else getattr(value, "py_func", None)
    if isinstance(source, FunctionType):
        return (_bound(value), _function_token(source, held, open_functions))
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).view(np.uint8).data).digest()
        return ("array", value.shape, str(value.dtype), value.strides, digest)
    if isinstance(value, tuple):
        return (type(value), *(token(each, held, open_functions) for each in value))
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        return (type(value), repr(value))
    held.append(value)
    return ("object", id(value))


def _function_token(
    function: FunctionType, held: list[object], open_functions: list[object]
) -> object:
    if function in open_functions:
        return ("recursion", open_functions.index(function))
    open_functions.append(function)
    try:
        read = [(name, token(value, held, open_functions)) for name, value in _read(function)]
        defaults = token(function.__defaults__ or (), held, open_functions)
    finally:
        open_functions.pop()
    return (function.__code__, function.__code__.co_filename, defaults, tuple(read))


def _read(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Names and values of the globals and closure cells that a function may read."""
    for name in sorted(_global_names(function.__code__)):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet: Numba says so when the name is read
            continue


def _global_names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _global_names(constant)
    return names
