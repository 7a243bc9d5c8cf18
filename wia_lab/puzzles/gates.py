"""Where a gate is missed: the sentence that names the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wia_lab.puzzles.puzzle import Run


def most(*counts: str, of: str | None = None) -> Callable[[Run], str]:
    """The line that counts most.

    Parameters
    ----------
    counts
        Names of counters (`wia_lab.simt.counts.Counts`), which are added up.
    of
        The global array whose traffic is meant; without one all that a line does.
    """

    def where(run: Run) -> str:
        if of is None:
            lines = run.lines
        elif of in run.arrays:
            lines = run.arrays[of].lines
        else:
            return ""
        return share({n: sum(getattr(each, name) for name in counts) for n, each in lines.items()})

    return where


def share(lines: Mapping[int, int]) -> str:
    """`All of them are on line 12.`, or how many of them, from the count of each line."""
    total = sum(lines.values())
    if not total:
        return ""
    line = _busiest(lines)
    if lines[line] == total:
        return f"All of them are on line {line}." if total > 1 else f"It is on line {line}."
    if 2 * lines[line] > total:
        return f"Most of them, {lines[line]:,} of {total:,}, are on line {line}."
    equal = sorted(each for each in lines if lines[each] == lines[line])
    if len(equal) == 1:
        return f"Line {line} has the most of them, {lines[line]:,} of {total:,}."
    *first, last = map(str, equal)
    return f"Lines {', '.join(first)} and {last} have {lines[line]:,} each, of {total:,}."


def _busiest(lines: Mapping[int, int]) -> int:
    """The line that counts most, the first of several."""
    return max(lines, key=lambda each: (lines[each], -each))


def copied(array: str) -> Callable[[Run], str]:
    """The line that fetches an array otherwise than by asynchronous copies, or copies it most."""

    def where(run: Run) -> str:
        lines = run.arrays[array].lines if array in run.arrays else {}
        plain = {
            line: counts.global_load_requests - counts.async_copy_requests
            for line, counts in lines.items()
        }
        if any(plain.values()):
            line = _busiest(plain)
            return f"Line {line} loads {array} by plain loads."
        return share({line: counts.async_copies for line, counts in lines.items()})

    return where


def fetched_alone(array: str) -> Callable[[Run], str]:
    """The line that fetches an array while nothing else is in flight."""

    def where(run: Run) -> str:
        lines = run.flight.alone_on.get(array, {})
        if not lines:
            return ""
        line = _busiest(lines)
        return f"Line {line} fetches {array} while no copy is under way."

    return where


def stored_idle(run: Run) -> str:
    """The line that stores while nothing is in flight, and what was waited for too early."""
    if run.flight.early is not None:
        store, copy, wait = run.flight.early
        return (
            f"When line {store} stores, nothing is on its way: the wait on line {wait} has waited "
            f"for the copy on line {copy} too, whose tile nobody has read yet."
        )
    lines = run.flight.idle_on
    if not lines:
        return ""
    line = _busiest(lines)
    return (
        f"When line {line} stores, nothing is on its way: issue the copy of the next tile, into "
        "another buffer, before you wait for this one."
    )


def rows_of_tiles(run: Run) -> str:
    """How many rows, and of what length, each two-dimensional shared array has."""
    tiles = [(name, shape) for name, shape in run.shared.items() if len(shape) == 2]
    return " ".join(
        f"{name} has the shape {shape}: {shape[0]} rows of {shape[1]}." for name, shape in tiles
    )
