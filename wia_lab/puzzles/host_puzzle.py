"""The records of a puzzle whose answer is a class that runs on the host: an allocator.

A host puzzle plays scripts on the learner's class and keeps what it replied: plain data, as a
kernel's `Run` is, so that another process can judge it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from wia_lab.puzzles.puzzle import Diagnosis, Gate

Step = tuple[Any, ...]
"""One operation of a script: its verb, then its arguments; what they mean is the puzzle's."""


@dataclass(frozen=True)
class Reply:
    """What one call of the learner's class did: returned `value`, or raised `error`."""

    value: Any = None
    error: str | None = None  # name of the exception's class
    text: str = ""  # its message
    line: int | None = None  # line of the answer on which it was raised
    lines: int = 0  # lines of Python that the call executed


@dataclass(frozen=True)
class HostCase:
    """One script, played on a fresh object."""

    name: str  # as a message says it: "four blocks of 256 B from 1,024 B"
    steps: tuple[Step, ...]
    options: Mapping[str, Any] = field(default_factory=dict)  # how the object is made, and played
    blame: tuple[str, str] | None = None  # cause and sentence, when this script goes wrong
    measured: bool = False  # gates are measured on this script


@dataclass(frozen=True)
class HostRun:
    """One script as the answer played it."""

    case: HostCase
    replies: tuple[Reply, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)  # what else was seen while it ran


@dataclass(frozen=True, kw_only=True)
class HostPuzzle:
    """One host puzzle. Its notebook is `NN-id.ipynb`; the fields are `Puzzle`'s where shared."""

    number: int
    id: str
    title: str
    teaches: str
    function: str  # the name of the learner's class
    signature: tuple[str, ...]  # the methods that it must have
    cases: Callable[[np.random.Generator], Sequence[HostCase]]
    play: Callable[[type, HostCase], HostRun]
    diagnose: Callable[[HostRun], Diagnosis | None]
    hints: tuple[str, str, str]
    gates: tuple[Gate, ...] = ()
    points: int = 2

    @property
    def stem(self) -> str:
        """Name of the notebook without its ending."""
        return f"{self.number:02d}-{self.id}"

    @property
    def usage(self) -> str:
        """What a learner writes, in words."""
        return f"class {self.function} with {', '.join(self.signature)}"
