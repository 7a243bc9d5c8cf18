"""Misspelt names: which known one is probably meant."""

from __future__ import annotations

import builtins
from difflib import get_close_matches
from types import FunctionType, TracebackType
from typing import TYPE_CHECKING

from wia_lab.simt import stubs

if TYPE_CHECKING:
    from collections.abc import Iterable


NEAR = 0.65
"""Likeness of two names, as difflib has it: two letters of three changed round are alike enough."""

SHORT = 3
"""Letters of a name below which another letter is another name, and no slip."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name of `known` that differs from `name` in its case alone, or in few letters.

    Where several are equally near, the first of them. Names that begin with an underscore are
    nobody's slip, and what is no plain text is no name.
    """
    own, by_fold = name.casefold(), dict[str, str]()
    for each in known:
        if type(each) is str and each != name and not each.startswith("_"):
            by_fold.setdefault(each.casefold(), each)
    if name.isupper():  # a constant, and no name of another kind
        by_fold = {fold: each for fold, each in by_fold.items() if each.isupper() or fold == own}
    if len(name) < SHORT:
        return by_fold.get(own)
    found = get_close_matches(own, by_fold, n=1, cutoff=NEAR)
    return by_fold[found[0]] if found else None


def visible(function: FunctionType) -> list[str]:
    """Names that a function's body may use: its own first, then its module's and Python's."""
    code = function.__code__
    own = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    return [*own, *function.__globals__, *vars(builtins)]


def meant(name: str, function: FunctionType) -> str | None:
    """What a name that nothing defines probably means in a function: one of cuda's, or the nearest.

    `threadIdx` means `cuda.threadIdx`.
    """
    return f"cuda.{name}" if name in stubs.CUDA.names() else nearest(name, visible(function))


def meant_by(error: BaseException) -> str | None:
    """The name that is probably meant where a NameError or an AttributeError was raised."""
    if isinstance(error, AttributeError) and type(error.name) is str:
        return nearest(error.name, _attributes(error.obj))
    if isinstance(error, NameError) and type(error.name) is str:
        return nearest(error.name, _of_frame(error.__traceback__))
    return None


def _attributes(value: object) -> list[str]:
    """An object's attributes and those of its classes, looked up past what they may redefine."""
    try:
        own = list(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        own = []
    return [*own, *(name for each in type(value).__mro__ for name in vars(each))]


def _of_frame(trace: TracebackType | None) -> list[str]:
    """The names that were known where an error was raised."""
    if trace is None:
        return []
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    return [*frame.f_locals, *frame.f_globals, *frame.f_builtins]
