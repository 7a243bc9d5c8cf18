"""Explicit signatures: reading them, and choosing and applying one at a launch."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types

WRITTEN = (
    ast.Call,
    ast.Constant,
    ast.Expression,
    ast.Load,
    ast.Name,
    ast.Slice,
    ast.Subscript,
    ast.Tuple,
    ast.keyword,
)
"""What a signature is written of: names of types, brackets, commas, and `readonly=True`."""


class Signature(NamedTuple):
    """Types of the arguments and of the result; `result` is None where none was written."""

    arguments: tuple[types.Type, ...]
    result: types.Type | None

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.arguments))})"


def is_signature(thing: Any) -> bool:
    """Whether `thing` is one signature: a string, a tuple of types, or ``void(int32[:])``."""
    return isinstance(thing, (str, tuple)) or (
        hasattr(thing, "args") and hasattr(thing, "return_type")
    )


def parse(thing: Any) -> Signature:
    """Read one signature.

    Raises
    ------
    TypeError
        When it is not a signature, with what was written.
    """
    found = _evaluated(thing) if isinstance(thing, str) else thing
    if isinstance(found, types.Type):  # "float32" means one argument, as in Numba
        found = (found,)
    if isinstance(found, tuple):
        arguments, result = found, None
    elif hasattr(found, "args"):
        arguments, result = tuple(found.args), found.return_type
    else:
        raise _unreadable(thing)
    if not all(isinstance(each, types.Type) for each in arguments):
        raise _unreadable(thing)
    return Signature(arguments, result)


def _evaluated(text: str) -> Any:
    """Evaluate names of types, and nothing else: a signature may come from somebody else's cell."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        if all(map(_may_stand, ast.walk(tree))):
            return eval(compile(tree, "<signature>", "eval"), {}, dict(vars(types)))  # noqa: S307
    except Exception as error:
        raise _unreadable(text) from error
    raise _unreadable(text)


def _may_stand(node: ast.AST) -> bool:
    return isinstance(node, WRITTEN) and (not isinstance(node, ast.Name) or _is_type(node.id))


def _is_type(name: str) -> bool:
    found = getattr(types, name, None)
    return isinstance(found, types.Type) or (
        isinstance(found, type) and issubclass(found, types.Type)
    )


def _unreadable(thing: Any) -> TypeError:
    return TypeError(
        f"{thing!r} is not a signature: write one such as 'void(float32[:], int32)' or "
        "(float32[:], int32)"
    )


def choose(signatures: Sequence[Signature], arguments: Sequence[Any], name: str) -> Signature:
    """The first of `signatures` that takes `arguments`, exactly if one does.

    Raises
    ------
    TypeError
        When none takes them, as numba-cuda raises when compiling more is disabled.
    """
    for fits in (_same, _convertible):
        for signature in signatures:
            if len(signature.arguments) == len(arguments) and all(
                fits(wanted, value)
                for wanted, value in zip(signature.arguments, arguments, strict=True)
            ):
                return signature
    given = ", ".join(str(typeof(each)) for each in arguments)
    raise TypeError(
        f"No matching definition for argument type(s) {given}: {name} takes "
        f"{' or '.join(map(str, signatures))}"
    )


def convert(signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """`arguments` with each number as the type that `signature` gives it."""
    return tuple(
        np.asarray(value).astype(str(wanted))[()] if isinstance(wanted, types.Number) else value
        for wanted, value in zip(signature.arguments, arguments, strict=True)
    )


def _same(wanted: types.Type, value: Any) -> bool:
    return _layout_free(wanted) == _layout_free(typeof(value))


def _convertible(wanted: types.Type, value: Any) -> bool:
    if isinstance(wanted, types.Number) and np.isscalar(value):
        return np.can_cast(np.asarray(value).dtype, np.dtype(str(wanted)), "same_kind")
    return _same(wanted, value)


def _layout_free(kind: types.Type) -> Any:
    """`kind`, without what an array's layout and writability add."""
    if isinstance(kind, types.Array):
        return ("array", kind.dtype, kind.ndim)
    return kind
