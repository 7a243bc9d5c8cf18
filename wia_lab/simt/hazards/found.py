"""What the detectors found: one hazard a cause, however many threads meet it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from wia_lab.simt.events import Launch, Site

Severity = Literal["error", "warning"]


class Thread(NamedTuple):
    """One thread of the launch, with as many coordinates as the launch has dimensions."""

    block: tuple[int, ...]
    thread: tuple[int, ...]

    def __str__(self) -> str:
        return f"thread {_coordinates(self.thread)} of block {_coordinates(self.block)}"


@dataclass(frozen=True, slots=True)
class Hazard:
    """One cause of trouble in a launch.

    Attributes
    ----------
    kind : str
        `out-of-bounds`, `race`, `uninitialised-read`, `divergent-barrier`, `async-copy`,
        `no-progress`, `negative-index`, `write-overlap`, `float64-arithmetic` or
        `division-by-zero`.
    severity : str
        `error` or `warning`.
    line, other_line : int, int or None
        Where it happened, and where the other side of it stands; None if there is no other side.
    message : str
        One sentence: the lines, the first thread that met it, the element, and the way out.
    threads : tuple of Thread
        The threads that the message names.
    array : str or None
        The array concerned.
    index : tuple of int or None
        The element of it that the message names.
    file : str
        The source file of `line`.
    further : int
        How often the same happened again, counted in accesses.
    way_out : str
        The end of the message that says what to do, where it is told apart: who knows more of the
        kernel than one access shows may know better.
    """

    kind: str
    severity: Severity
    line: int
    other_line: int | None
    message: str
    threads: tuple[Thread, ...] = ()
    array: str | None = None
    index: tuple[int, ...] | None = None
    file: str = ""
    further: int = 0
    way_out: str = ""

    @property
    def fact(self) -> str:
        """The message without its way out."""
        return self.message.removesuffix(f": {self.way_out}")

    def __str__(self) -> str:
        return self.message


class Findings:
    """Collects hazards, one for each (kind, lines, array)."""

    def __init__(self) -> None:
        self._by_cause: dict[tuple[object, ...], Hazard] = {}
        self.file = ""
        self._grid = self._block = (1, 1, 1)
        self._stride = 32

    def begin(self, launch: Launch) -> None:
        """Forget everything: a launch begins."""
        self._by_cause.clear()
        self.file = launch.file
        self._grid, self._block = launch.grid, launch.block
        threads = launch.block[0] * launch.block[1] * launch.block[2]
        self._stride = -(-threads // 32) * 32

    def thread(self, number: int) -> Thread:
        """The thread of a number: blocks in order, each padded to whole warps."""
        block, thread = divmod(int(number), self._stride)
        return Thread(_split(block, self._grid), _split(thread, self._block))

    def at(self, site: Site) -> str:
        """`line 9`, with the file's name where it is not the kernel's."""
        if site.file and site.file != self.file:
            return f"{PurePath(site.file.replace(chr(92), '/')).name} line {site.line}"
        return f"line {site.line}"

    def add(
        self, hazard: Hazard, *, times: int = 1, cause: tuple[object, ...] | None = None
    ) -> None:
        """Keep the first hazard of each cause, and count the rest; an error outdoes a warning."""
        key = cause or (hazard.kind, hazard.file, hazard.line, hazard.other_line, hazard.array)
        known = self._by_cause.get(key)
        if known is None:
            self._by_cause[key] = replace(hazard, further=times - 1)
        elif known.severity == "warning" and hazard.severity == "error":
            self._by_cause[key] = replace(hazard, further=known.further + times)
        else:
            self._by_cause[key] = replace(known, further=known.further + times)

    def count(self, cause: tuple[object, ...], times: int) -> None:
        """The same cause happened again."""
        known = self._by_cause.get(cause)
        if known is not None:
            self._by_cause[cause] = replace(known, further=known.further + times)

    def drop(self, cause: tuple[object, ...]) -> None:
        """Forget a hazard that follows from another."""
        self._by_cause.pop(cause, None)

    def soften(self, cause: tuple[object, ...], message_end: str) -> None:
        """Make an error a warning, and say why at the end of its message."""
        known = self._by_cause.get(cause)
        if known is not None:
            start = known.message.rpartition(": ")[0]
            self._by_cause[cause] = replace(
                known, severity="warning", message=f"{start}: {message_end}"
            )

    def drop_reads(self, arrays: set[str]) -> None:
        """Drop uninitialised reads of arrays that lack something because of another fault."""
        self._by_cause = {
            cause: each
            for cause, each in self._by_cause.items()
            if each.kind != "uninitialised-read" or each.array not in arrays
        }

    def drop_covered(self, kind: str, by: str) -> None:
        """Drop hazards of one kind where one of another kind names their lines and array."""
        worse = [each for each in self._by_cause.values() if each.kind == by]

        def is_covered(hazard: Hazard) -> bool:
            lines = {hazard.line, hazard.other_line}
            return any(
                (each.file, each.array) == (hazard.file, hazard.array)
                and lines <= {each.line, each.other_line}
                for each in worse
            )

        self._by_cause = {
            cause: each
            for cause, each in self._by_cause.items()
            if each.kind != kind or not is_covered(each)
        }

    def sorted(self) -> list[Hazard]:
        """Errors first, then by line."""
        return sorted(
            self._by_cause.values(),
            key=lambda each: (each.severity != "error", each.file, each.line, each.other_line or 0),
        )


def _split(linear: int, extent: tuple[int, int, int]) -> tuple[int, ...]:
    x, rest = linear % extent[0], linear // extent[0]
    y, z = rest % extent[1], rest // extent[1]
    if extent[2] > 1:
        return (x, y, z)
    return (x, y) if extent[1] > 1 else (x,)


def _coordinates(index: tuple[int, ...]) -> str:
    return str(index[0]) if len(index) == 1 else f"({', '.join(map(str, index))})"
