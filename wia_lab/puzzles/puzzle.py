"""The records a puzzle is made of, and those that judging it yields. No machinery.

A kernel puzzle is facts (what it teaches, hints), hostile inputs (`Case`), a NumPy reference with
the rounding that it allows, known wrong formulas (`Suspect`) and gates on what was counted
(`Gate`). `execute` turns an answer and a case into a `Run`: plain data, no code of the learner's,
so that a grader can run answers in one process and judge them in another. `judge` turns runs into
a `Verdict`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Arrays = Mapping[str, np.ndarray]
"""Arrays by parameter name."""

Dim = tuple[int, ...]
"""A grid or a block, x first."""


@dataclass(frozen=True)
class Case:
    """One launch of the answer: its arguments in call order, outputs poisoned with NaN or -1."""

    name: str  # as a message says it: "37×53 times 53×41"
    arguments: Arrays
    outputs: tuple[str, ...]
    grid: Dim
    block: Dim
    measured: bool = False  # gates are measured on this launch

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """The arguments that the kernel only reads."""
        return {name: array for name, array in self.arguments.items() if name not in self.outputs}


@dataclass(frozen=True)
class Suspect:
    """A wrong formula that learners really write, with the sentence that explains it.

    `formula(**inputs)` gives what the mistake computes, an array for each output; NaN stands for a
    cell that the mistake never writes. It is compared with an answer that was found wrong.
    """

    name: str
    sentence: str
    formula: Callable[..., Arrays]


@dataclass(frozen=True, eq=False)
class Terms:
    """What the sums of a puzzle are made of: each output is the sum of its terms.

    With few terms each has a name, which a learner reads; with many there is one for what counts
    them.
    """

    names: tuple[str, ...]  # "signal[i - 2] * taps[0]", …, or "k" alone
    values: np.ndarray  # float64 (terms, *shape of the output)


@dataclass(frozen=True)
class Writers:
    """Who wrote each cell of one output last; flat, in C order."""

    thread: np.ndarray  # int64: block * threads a block + thread, or -1 where nobody wrote
    line: np.ndarray  # int32


@dataclass(frozen=True)
class Flight:
    """What the asynchronous copies of a launch did, by the name of the global array.

    A fetch is a warp-level load, or a warp-level copy. It is overlapped when, in its block, a copy
    of another array is in flight at the same time.
    """

    elements: Mapping[str, int]  # elements that copies brought, zero-filled ones included
    overlapped: Mapping[str, int]  # fetches overlapped
    alone: Mapping[str, int]  # fetches not overlapped
    stored: int = 0  # elements stored to global memory while, in their block, a copy is in flight
    alone_on: Mapping[str, Mapping[int, int]] = field(default_factory=dict)  # `alone` by line
    idle_on: Mapping[int, int] = field(default_factory=dict)  # line: elements stored otherwise
    early: tuple[int, int, int] | None = None
    """Lines of a store with nothing in flight, and of a copy and the wait for it, where what the
    copy brought was not read yet."""


@dataclass(frozen=True)
class Shuffles:
    """Shuffles that warps executed in a launch."""

    full: int = 0  # with all 32 lanes
    partial: int = 0  # with fewer
    partial_on: Mapping[int, int] = field(default_factory=dict)  # `partial` by line


@dataclass(frozen=True)
class Remark:
    """What all of a launch, or the source, says of its first error beside that error's message."""

    cause: str
    sentence: str
    line: int | None = None  # where it stands, if the source shows it


@dataclass(frozen=True)
class Run:
    """One case as the answer left it."""

    case: Case
    outputs: Arrays
    changed: tuple[str, ...]  # inputs that the kernel wrote to
    hazards: tuple[Any, ...]  # wia_lab.simt's hazards, errors first
    counters: Any  # wia_lab.simt's counters of the launch
    arrays: Mapping[str, Any]  # wia_lab.simt's traffic of each global array that was touched
    writers: Mapping[str, Writers]
    flight: Flight
    shuffles: Shuffles = field(default_factory=Shuffles)
    remark: Remark | None = None  # of the first of its errors
    lines: Mapping[int, Any] = field(default_factory=dict)  # counters by line of the kernel's file
    shared: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # shapes of shared arrays

    @property
    def errors(self) -> tuple[Any, ...]:
        """The hazards that make the answer wrong whatever it computed."""
        return tuple(hazard for hazard in self.hazards if hazard.severity == "error")


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A bound on something counted, so that a right but wasteful kernel is seen.

    Every gate has a partner that bounds the other side (an idle kernel also moves few sectors),
    and a gate whose measure is None, as nothing was counted, fails.
    """

    name: str
    measure: Callable[[Run], float | None]
    naive: Callable[[Case], float]  # what the plain kernel without this puzzle's idea counts
    naive_is: str = ""  # that kernel, where a puzzle's gates have several
    advice: str  # one sentence for the learner who misses it
    where: Callable[[Run], str] | None = None  # the sentence before it, which names the line
    too_many: str = ""  # the sentence for who counts more than `at_most`, where that differs
    at_most: Callable[[Case], float] | None = None
    at_least: Callable[[Case], float] | None = None
    points: int = 1


@dataclass(frozen=True)
class Diagnosis:
    """Why an answer was refused."""

    kind: str  # a hazard's kind, or wrong-value, unwritten, input-changed, gate, typing, stub, …
    text: str  # what the learner reads; several lines
    line: int | None = None
    cause: str | None = None  # the name of the suspect or gate


@dataclass(frozen=True)
class Entry:
    """One thing that is worth points: the right answer, or one gate."""

    name: str
    passed: bool
    points: int
    text: str


@dataclass(frozen=True)
class Verdict:
    """What a judge found: `entries` for the gradebook, `diagnosis` for the learner."""

    puzzle: str
    entries: tuple[Entry, ...]
    diagnosis: Diagnosis | None = None
    notes: tuple[str, ...] = ()  # true, and worth knowing, but no reason to refuse
    runs: tuple[Run, ...] = field(default=(), repr=False)

    @property
    def passed(self) -> bool:
        """Whether nothing was found wrong."""
        return self.diagnosis is None


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """One puzzle. Its notebook is `NN-id.ipynb`."""

    number: int
    id: str
    title: str
    teaches: str
    function: str  # the name the stub gives the kernel
    signature: tuple[str, ...]  # its parameters, in order
    cases: Callable[[np.random.Generator], Sequence[Case]]
    reference: Callable[..., Arrays]  # (**inputs) -> what each output must be, float64
    rounding: Callable[..., Arrays]  # (**inputs) -> the difference that each cell may have
    hints: tuple[str, str, str]
    suspects: tuple[Suspect, ...] = ()
    gates: tuple[Gate, ...] = ()
    terms: Callable[..., Terms] | None = None  # (**inputs) -> the terms of its only output
    unfilled: str = ""  # what to say to whose condition keeps elements of a tile from being filled
    points: int = 2  # for the right answer; gates have their own

    @property
    def stem(self) -> str:
        """Name of the notebook without its ending."""
        return f"{self.number:02d}-{self.id}"

    @property
    def usage(self) -> str:
        """The signature as a learner writes it."""
        return f"{self.function}({', '.join(self.signature)})"
