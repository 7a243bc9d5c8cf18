"""Which of several algorithms makes a result, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from wia_lab.hal.errors import InvalidValue

if TYPE_CHECKING:
    from wia_lab.hal.ops.operation import Operation
    from wia_lab.hal.stream import Stream

AlgorithmT = TypeVar("AlgorithmT", bound=Enum)


class Precision(Enum):
    """In which type products are taken, and sums kept.

    FULL: inputs as they are; sums of float16 in float32, of all else in the inputs' type.
    MIXED: float32 inputs are rounded to float16 first; sums in float32.
    REDUCED: sums in the inputs' own type, float16 included.
    """

    FULL = "full"
    MIXED = "mixed"
    REDUCED = "reduced"


@dataclass(frozen=True, slots=True)
class Choice:
    """How one result was made.

    Attributes
    ----------
    operation, algorithm : str
        What was computed, and the name of the way.
    asked : str
        What the configuration named: "AUTO", or the algorithm itself.
    seconds : mapping of str to float
        What the back end reckons for each algorithm that this device could have used.
    refused : mapping of str to str
        Those that it could not use, and why.
    inputs, accumulate : numpy.dtype
        The type that products are taken of, and the one that sums are kept in.
    """

    operation: str
    algorithm: str
    asked: str
    seconds: Mapping[str, float]
    refused: Mapping[str, str]
    inputs: np.dtype[Any]
    accumulate: np.dtype[Any]

    def explain(self) -> str:
        """One sentence or two: what was chosen, among what, and in which precision."""
        ways = sorted(self.seconds.items(), key=lambda way: way[1])
        reckoned = ", ".join(f"{name} {took * 1e6:,.1f} µs" for name, took in ways)
        why = "the shortest, as AUTO takes it" if self.asked == "AUTO" else "as asked"
        lacks = "".join(f"; {name} is not possible: {text}" for name, text in self.refused.items())
        return (
            f"{self.operation} by {self.algorithm}, {why}; reckoned are {reckoned}{lacks}. "
            f"Products of {self.inputs}, sums in {self.accumulate}."
        )


def choose(
    ways: Mapping[AlgorithmT, Operation],
    refused: Mapping[AlgorithmT, str],
    asked: AlgorithmT,
    inputs: np.dtype[Any],
    stream: Stream,
) -> tuple[Operation, Choice]:
    """The operation asked for, or for AUTO the one that the back end reckons shortest.

    Raises
    ------
    InvalidValue
        When the device cannot do what was asked for.
    """
    context = stream.context
    name = next(iter(ways.values())).name
    if asked in refused:
        raise InvalidValue(
            f"{name}: {asked.name} is not possible on {context.device!r}: {refused[asked]}; choose "
            f"AUTO or {', '.join(way.name for way in ways)}"
        )
    seconds = {
        way: context.backend.estimate(context.device.number, each) for way, each in ways.items()
    }
    taken = asked if asked in ways else min(seconds, key=lambda way: seconds[way])
    choice = Choice(
        name,
        taken.name,
        asked.name,
        {way.name: took for way, took in seconds.items()},
        {way.name: why for way, why in refused.items()},
        inputs,
        ways[taken].accumulate,
    )
    return ways[taken], choice


def leave_vendor(
    vendor: AlgorithmT,
    ways: dict[AlgorithmT, Operation],
    refused: dict[AlgorithmT, str],
    asked: AlgorithmT,
    stream: Stream,
) -> None:
    """Take the vendor's library out of `ways` where it cannot make the operation.

    A virtual device has none, which is no news: it is `refused` there only when it was asked for.
    """
    lacks = _vendor_lacks(ways[vendor], stream)
    if lacks:
        del ways[vendor]
        if asked is vendor or not stream.context.device.info.is_virtual:
            refused[vendor] = lacks


def _vendor_lacks(operation: Operation, stream: Stream) -> str:
    dtype = operation.output.dtype
    if dtype.kind != "f":
        return "it has no products of integers"
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    if operation.options["products"] != dtype or operation.accumulate != wide:
        return "it takes Precision.FULL alone here"
    return stream.context.backend.vendor_lacks(operation)


def types_of(
    name: str, dtype: np.dtype[Any], precision: Precision
) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The types of products and of sums; refuse what has no narrower type to mix with."""
    check_member(name, "precision", precision, Precision)
    if precision is Precision.FULL or dtype == np.float16:
        wide = dtype == np.float16 and precision is not Precision.REDUCED
        return dtype, np.dtype(np.float32) if wide else dtype
    if precision is Precision.MIXED and dtype == np.float32:
        return np.dtype(np.float16), dtype
    if precision is Precision.MIXED:
        raise InvalidValue(
            f"{name}: Precision.MIXED is for float16 and float32, and this is {dtype}: use "
            "Precision.FULL, or convert the tensors"
        )
    return dtype, dtype


def check_member(name: str, what: str, value: object, kind: type[Enum]) -> None:
    """Refuse what is no member of an enumeration."""
    if not isinstance(value, kind):
        raise InvalidValue(
            f"{name}: {what} is {value!r}: choose "
            f"{', '.join(f'{kind.__name__}.{each.name}' for each in kind)}"
        )
