"""One name of the standard, and the way from its Python name to what it names."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One name of the standard.

    Attributes
    ----------
    section : str
        Where it comes first, such as "3.4.1".
    name : str
        As the sources write it; a field is `struct.field`.
    python : str
        Its dotted name. What C calls and Python does by a feature of the language, as `with` for
        destroy, has the name of the method behind that feature.
    tests : tuple of str
        pytest's node ids of what proves it; of a parametrised test, that of all its cases.
    choice : str
        One sentence, where the sources contradict themselves or Python does it another way.
    """

    section: str
    name: str
    python: str
    tests: tuple[str, ...]
    choice: str = ""

    @property
    def kind(self) -> str:
        """What C calls it: field, struct, constant, qualifier or function."""
        if "." in self.name:
            return "field"
        if self.name.endswith("_t"):
            return "struct"
        if self.name.startswith("__"):
            return "qualifier"
        return "constant" if self.name.isupper() else "function"


Entry = tuple[str, str] | tuple[str, str, str]
"""A row's name, its Python name without `wia_lab.`, and its choice where there is one."""


def rows(section: str, tests: str | tuple[str, ...], *entries: Entry) -> Iterator[Row]:
    """Yield the rows of a section that the same tests prove; `tests` without `tests/`."""
    nodes = tuple(f"tests/{each}" for each in ([tests] if isinstance(tests, str) else tests))
    for name, python, *choice in entries:
        yield Row(section, name, f"wia_lab.{python}", nodes, *choice)


def resolve(python: str) -> Any:
    """Return what a dotted name names.

    An attribute that instances alone have is named by the parameter of the constructor that sets
    it, so that parameter is returned.

    Raises
    ------
    AttributeError, ModuleNotFoundError
        When there is no such thing.
    """
    found: Any = importlib.import_module("wia_lab")
    for name in python.split(".")[1:]:
        if inspect.ismodule(found) and not hasattr(found, name):
            found = importlib.import_module(f"{found.__name__}.{name}")
            continue
        try:
            found = inspect.getattr_static(found, name)  # an enumeration's `value` is its members'
        except AttributeError:
            if not inspect.isclass(found) or name not in inspect.signature(found).parameters:
                raise
            found = inspect.signature(found).parameters[name]
    return found
