"""Copies of functions in which the values that they refer to are replaced."""

from __future__ import annotations

import contextlib
import types as pytypes
from collections.abc import Callable
from typing import Any


class FunctionCopies:
    """Copies of functions that refer to one another, each made once.

    A subclass says in `counterpart` what a global or closure variable becomes.
    """

    def __init__(self) -> None:
        self._results: dict[int, Any] = {}
        self._kept: list[Any] = []  # so that no id is used twice

    def counterpart(self, value: Any, used: set[str]) -> Any:
        """What `value` becomes in a copy; `used` are the names that the function uses."""
        raise NotImplementedError

    def finished(self, key: Any, result: Any) -> None:
        """Do what is due once all references of a copy are filled in."""

    def copied(self, key: Any, original: Any, finish: Callable[[Any], Any]) -> Any:
        """Copy `original` and `finish` the copy, then fill in what it refers to.

        What `finish` gives is known before the references are followed, so that functions may call
        themselves and each other. It is kept under `key`, and returned.
        """
        if id(key) in self._results:
            return self._results[id(key)]
        used = names_of(original.__code__)
        names: dict[str, Any] = {
            name: value
            for name, value in original.__globals__.items()
            if name in used or name.startswith("__")  # no more: a copy must not keep data alive
        }
        cells = tuple(pytypes.CellType() for _ in original.__closure__ or ())
        copy = pytypes.FunctionType(
            original.__code__, names, original.__name__, original.__defaults__, cells or None
        )
        copy.__kwdefaults__ = original.__kwdefaults__
        copy.__module__, copy.__qualname__ = original.__module__, original.__qualname__
        copy.__annotations__, copy.__doc__ = original.__annotations__, original.__doc__
        self._kept.append(key)
        self._results[id(key)] = result = finish(copy)
        self._fill(original, used, names, cells)
        self.finished(key, result)
        return result

    def _fill(
        self, original: Any, used: set[str], names: dict[str, Any], cells: tuple[Any, ...]
    ) -> None:
        for name in used & names.keys():
            names[name] = self.counterpart(names[name], used)
        for cell, source in zip(cells, original.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # a cell that is still empty stays empty
                cell.cell_contents = self.counterpart(source.cell_contents, used)


def references(function: Any) -> list[Any]:
    """The values of the globals and closure variables that a function uses."""
    used = names_of(function.__code__)
    found = [value for name, value in function.__globals__.items() if name in used]
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):
            found.append(cell.cell_contents)
    return found


def names_of(code: pytypes.CodeType) -> set[str]:
    """Globals and attributes that a code object uses, those of functions inside it included."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            names |= names_of(constant)
    return names


def is_cpu_dispatcher(value: Any) -> bool:
    """Whether `value` is what `numba.njit` makes."""
    return type(value).__module__ == "numba.core.registry" and hasattr(value, "py_func")
