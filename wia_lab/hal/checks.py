"""Checks at the HAL's edge: what was given belongs there, or one sentence says why it does not.

Each takes `where`, the call and the argument as the caller knows them, which begins the sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import numpy as np

from wia_lab.errors import SizeError
from wia_lab.hal.errors import InvalidValue
from wia_lab.memory import parse_size

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")

LONGEST_SAID = 60


class Single:
    """What is one of its kind: a copy of it, or a pickle, would own the same things again."""

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse; `copy` and `pickle` ask for it."""
        raise InvalidValue(
            f"{self!r} cannot be copied or pickled, as it is a handle of its machine's: give its "
            "values, as tensor.numpy(), and make one where they are wanted"
        )


class Closing(Single):
    """What is closed at the end of a `with`."""

    def close(self) -> None:
        """Close it; twice is fine."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """What closing raises is a note on the error that ended the `with`, where one did."""
        try:
            self.close()
        except Exception as failed:
            if error is None:
                raise
            what = f"{type(failed).__name__}: {failed}"
            error.add_note(f"closing {self!r} failed after that, too: {what}")


class Owner(Closing):
    """What a context is to the modules that `Context` itself is made of."""

    def check_open(self) -> None:
        """Refuse a context that was closed."""
        raise NotImplementedError


def said(value: object) -> str:
    """A value as a sentence has it: in full where it is short, else what sort of thing it is."""
    if value is None or isinstance(value, bool | int | float | str | type | tuple):
        text = repr(value)
        return text if len(text) <= LONGEST_SAID else f"{text[:LONGEST_SAID]}…"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


def refuse(where: str, value: object, way: str) -> NoReturn:
    """Say that a value does not belong there, and what does."""
    raise InvalidValue(f"{where} is {said(value)}: {way}")


def checked(where: str, value: object, kind: type[T] | tuple[type[T], ...], way: str) -> T:
    """The value, which is of a kind."""
    if not isinstance(value, kind):
        refuse(where, value, way)
    return value


def checked_context(where: str, value: Any) -> Any:
    """A context that is open."""
    checked(where, value, Owner, "give a context, as Context(machine[0]) makes one")
    value.check_open()
    return value


def configured(where: str, value: T | None, kind: type[T]) -> T:
    """A configuration, or the default one where none is given."""
    if value is None:
        return kind()
    return checked(where, value, kind, f"give a {kind.__name__}, or leave it out")


def is_whole(value: Any) -> bool:
    """Whether it is an integer, Python's or NumPy's, and neither a truth value nor an array."""
    if isinstance(value, bool | np.bool_ | type):
        return False
    try:
        index(value)
    except (TypeError, ValueError):
        return False
    return True


def is_real(value: Any) -> bool:
    """Whether it is a number, Python's or NumPy's, and neither a truth value nor NaN."""
    real = isinstance(value, int | float | np.integer | np.floating)
    return real and not isinstance(value, bool) and not math.isnan(value)


def checked_whole(where: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """An integer from `least` to `most`."""
    good = is_whole(value)
    number = int(value) if good else 0
    if not good or (least is not None and number < least) or (most is not None and number > most):
        upper = " on" if most is None else f" to {most:,}"
        bounds = "" if least is None else f" from {least:,}{upper}"
        refuse(where, value, f"give an integer{bounds}")
    return number


def checked_size(where: str, value: Any, least: int = 1) -> int:
    """Bytes, of an integer or of text such as "2GiB"."""
    try:
        nbytes = parse_size(int(value) if is_whole(value) else value)
    except SizeError:
        nbytes = -1
    if nbytes < least:
        few = "at least one byte" if least else "0 bytes or more"
        refuse(where, value, f"give {few}, as an integer or text such as '2GiB'")
    return nbytes


def checked_flag(where: str, value: Any) -> bool:
    """True or False."""
    return checked(where, value, bool, "give True or False")


def checked_name(where: str, value: Any, *, needed: bool = False) -> str | None:
    """A name, or None where it may be left out."""
    if value is None and not needed:
        return None
    return checked(where, value, str, "give text")


def checked_seconds(where: str, value: Any, *, finite: bool = True) -> float:
    """A duration."""
    if not is_real(value) or value < 0 or (finite and math.isinf(value)):
        refuse(where, value, "give seconds, 0 or more")
    return float(value)


def checked_timeout(where: str, value: Any) -> float | None:
    """How long a wait may take: seconds, or None where the context says."""
    return None if value is None else checked_seconds(where, value, finite=False)


def checked_limit(where: str, value: Any) -> float | None:
    """How long waits may take by default: more than 0 seconds, or None, for ever."""
    if value is not None and not (is_real(value) and value > 0):
        refuse(where, value, "give more than 0 seconds, or None")
    return None if value is None else float(value)


def checked_callable(where: str, value: Any) -> Callable[..., Any]:
    """A function, or what can be called like one."""
    if not callable(value):
        refuse(where, value, "give a function")
    function: Callable[..., Any] = value
    return function
