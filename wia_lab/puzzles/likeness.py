"""What wrong values look like, where no known mistake computes them: the last guess at a cause.

The rules know nothing of a puzzle, but for the terms that its sums are made of (`Puzzle.terms`):
one number in all cells, a factor or a difference that is the same everywhere, the value of another
cell, terms that are missing or count twice, cells that are written in stripes.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wia_lab.puzzles.agreement import ROUNDED, wrong_cells
from wia_lab.puzzles.whereabouts import numbers, runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from wia_lab.puzzles.puzzle import Puzzle, Run, Terms

Guess = tuple[str, str] | None
"""Name and sentence of a likely cause."""

FEW = 4  # cells from which a rule may be drawn
MOST = 0.9  # of the wrong cells must follow it
SAMPLE = 2000  # wrong cells that are looked at
FEW_TERMS = 9  # of which each way to leave some out is tried
LAST_DIGIT = 2.0**-23  # of a float32
SLIGHT = 1e-2  # of a value: less digits, not another number


class _Wrong(NamedTuple):
    """The wrong cells of an output, all of them written."""

    name: str
    cells: np.ndarray  # flat places
    got: np.ndarray
    want: np.ndarray
    rounding: np.ndarray  # that each may have
    allowed: np.ndarray  # difference within which a guess must lie: four times as much, and more
    right: np.ndarray  # the whole output as it must be


def likeness(puzzle: Puzzle, run: Run) -> Guess:
    """What the first wrong output of a run looks like, where a rule holds for it."""
    for name, mask in wrong_cells(puzzle, run).items():
        if not mask.any():
            continue
        untouched = run.writers[name].thread < 0
        if untouched.any():
            return _stripes(untouched.reshape(run.outputs[name].shape), run.case.block)
        wrong = _gather(puzzle, run, name, mask)
        rules: tuple[Callable[[_Wrong], Guess], ...] = (_one_number, _one_factor, _one_difference)
        for rule in rules if wrong.cells.size >= FEW else ():
            if guess := rule(wrong):
                return guess
        if guess := _of_inputs(run, wrong):
            return guess
        if puzzle.terms is not None:
            guess = _some_terms(puzzle.terms(**run.case.inputs), wrong)
            if guess is not None:
                return guess
        return _elsewhere(wrong) or _a_factor_each_row(wrong) or _fewer_digits(wrong)
    return None


def _gather(puzzle: Puzzle, run: Run, name: str, mask: np.ndarray) -> _Wrong:
    inputs = run.case.inputs
    got = run.outputs[name].reshape(-1).astype(np.float64)
    right = puzzle.reference(**inputs)[name]
    cells = np.flatnonzero(mask & np.isfinite(got))
    allowed = puzzle.rounding(**inputs)[name].reshape(-1)[cells]
    return _Wrong(
        name,
        cells,
        got[cells],
        right.reshape(-1)[cells],
        allowed,
        4 * allowed + ROUNDED * np.abs(got[cells]),
        right,
    )


def _one_number(wrong: _Wrong) -> Guess:
    value = wrong.got[0]
    if not (wrong.got == value).all():
        return None
    if value == 0:
        return (
            "all-zero",
            "all wrong cells hold 0: nothing was added up for them, or what was did not reach the "
            "line that stores.",
        )
    return "one-number", f"all wrong cells hold the same number, {value:.6g}: see where it is from."


def _one_factor(wrong: _Wrong) -> Guess:
    factor = _factor(wrong.got, wrong.want, wrong.allowed)
    if factor is None:
        return None
    return "one-factor", f"every wrong cell is {_times(factor)} what it should be."


def _factor(got: np.ndarray, want: np.ndarray, allowed: np.ndarray) -> float | None:
    """The number that all of `want` are multiplied by; the fit is that of the greatest."""
    most = int(np.argmax(np.abs(want)))
    if want[most] == 0:
        return None
    factor = float(got[most] / want[most])
    fits = np.abs(got - factor * want) <= allowed * (1 + abs(factor))
    return factor if fits.all() and got.size > 1 else None


def _times(factor: float) -> str:
    for whole, said in ((factor, "{} times"), (1 / factor if factor else 0, "1/{} of")):
        if round(whole) and abs(whole - round(whole)) < SLIGHT / 10:
            return said.format(round(whole))
    return f"{factor:.4g} times"


def _one_difference(wrong: _Wrong) -> Guess:
    difference = wrong.got - wrong.want
    middle = float(np.median(difference))
    if (
        abs(middle) <= wrong.allowed.max()
        or (np.abs(difference - middle) > 2 * wrong.allowed).any()
    ):
        return None
    side = "large" if middle > 0 else "small"
    return "one-difference", f"every wrong cell is too {side} by {abs(middle):.6g}."


def _of_inputs(run: Run, wrong: _Wrong) -> Guess:
    """A sum of inputs of the output's shape, each taken so many times."""
    alike = {
        name: array.reshape(-1)[wrong.cells].astype(np.float64)
        for name, array in run.case.inputs.items()
        if array.shape == wrong.right.shape
    }
    if not alike or wrong.cells.size < 2 * FEW:
        return None
    table = np.stack(list(alike.values()))
    times = np.linalg.lstsq(table.T, wrong.got, rcond=None)[0]
    if (np.abs(times @ table - wrong.got) > wrong.allowed + ROUNDED * np.abs(table).max()).any():
        return None
    parts = [
        f"{'-' if factor < 0 else '+'} {_so_often(abs(factor))}{name}"
        for name, factor in zip(alike, times, strict=True)
        if abs(factor) >= SLIGHT
    ]
    held = " ".join(parts).removeprefix("+ ")
    return "of-inputs", f"every wrong cell holds {held}, element by element."


def _so_often(factor: float) -> str:
    return "" if abs(factor - 1) < SLIGHT else f"{factor:.3g} * "


def _some_terms(terms: Terms, wrong: _Wrong) -> Guess:
    """Terms of the sum that are missing or count more than once."""
    values = terms.values.reshape(len(terms.values), -1)[:, wrong.cells[:SAMPLE]]
    got, allowed = wrong.got[:SAMPLE], wrong.allowed[:SAMPLE]
    if len(values) > FEW_TERMS:
        return _weights(terms, values, got, allowed)
    count = len(values)
    left_out = sorted(product((1, 0), repeat=count), key=lambda each: -sum(each))[1:]
    doubled = [tuple(1 + (k == j) for j in range(count)) for k in range(count)]
    tried = np.array([*left_out[:count], *doubled, *left_out[count:]], np.float64)
    fits = np.abs(tried @ values - got) <= allowed
    found = fits.any(axis=0)
    if found.mean() < MOST:
        return None
    [(first, often)] = Counter(np.argmax(fits, axis=0)[found].tolist()).most_common(1)
    odd = np.flatnonzero(tried[first] != 1)
    what = "counts twice" if tried[first].max() > 1 else "is missing from the sum"
    if odd.size > 1:
        what = what.replace("is", "are", 1)
    names = " and ".join(terms.names[k] for k in odd)
    place = "" if often == got.size else f"in {often:,} of {got.size:,} wrong cells "
    return "terms", f"{place}{names} {what}."


def _weights(terms: Terms, values: np.ndarray, got: np.ndarray, allowed: np.ndarray) -> Guess:
    """How often each term counts, if that is the same in all cells."""
    if got.size < 2 * len(values):
        return None
    weights = np.linalg.lstsq(values.T, got, rcond=None)[0]
    if (np.abs(weights @ values - got) > allowed).any():
        return None
    missing, more = np.abs(weights) < SLIGHT, np.abs(weights - 1) >= SLIGHT
    [name] = terms.names
    if missing.any():
        return "terms", f"the products with {name} = {numbers(missing)} are missing from each sum."
    if not more.any():
        return None
    often = float(np.median(weights[more]))
    return "terms", f"the products with {name} = {numbers(more)} count {often:.3g} times."


def _elsewhere(wrong: _Wrong) -> Guess:
    """The values belong to other cells of the same output."""
    order = np.argsort(wrong.right, axis=None)
    values = wrong.right.reshape(-1)[order]
    pick = np.unique(np.linspace(0, wrong.cells.size - 1, 64).astype(int))
    cells, got = wrong.cells[pick], wrong.got[pick]
    near = wrong.rounding[pick] / 4 + LAST_DIGIT * np.abs(got)  # wider, and strangers agree too
    low = np.searchsorted(values, got - near, side="left")
    once = np.searchsorted(values, got + near, side="right") - low == 1
    if once.sum() < FEW or once.mean() < MOST:
        return None
    shape = wrong.right.shape
    here = np.stack(np.unravel_index(cells[once], shape), axis=1)
    there = np.stack(np.unravel_index(order[low[once]], shape), axis=1)
    moved = there - here
    examples = "; ".join(
        f"{_cell(wrong.name, to)} holds what belongs in {_cell(wrong.name, of)}"
        for to, of in zip(here[:2], there[:2], strict=True)
    )
    [(step, often)] = Counter(map(tuple, moved.tolist())).most_common(1)
    if often >= MOST * len(moved):
        steps = ", ".join(f"{each:+d}" for each in step)
        return (
            "another-cell",
            f"wrong cells hold the value of the one at [{steps}]: {examples}.",
        )
    return "another-cell", f"the values belong to other cells: {examples}."


def _cell(name: str, place: np.ndarray) -> str:
    return f"{name}[{', '.join(map(str, place))}]"


def _a_factor_each_row(wrong: _Wrong) -> Guess:
    """The results of a row are right but for one factor."""
    if wrong.right.ndim < 2:
        return None
    rows = wrong.cells // wrong.right.shape[-1]
    factors = []
    for row in np.unique(rows):
        these = rows == row
        factor = _factor(wrong.got[these], wrong.want[these], wrong.allowed[these])
        if factor is None:
            return None
        factors.append(factor)
    return (
        "a-factor-each-row",
        f"in each row all results are right but for one factor, in row {rows[0]} {factors[0]:.4g}: "
        "what the whole row is multiplied or divided by is wrong.",
    )


def _fewer_digits(wrong: _Wrong) -> Guess:
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(wrong.got - wrong.want) / np.abs(wrong.want)
    if not wrong.cells.size or not np.nanmax(off) < SLIGHT:
        return None
    return (
        "fewer-digits",
        f"the results are nearly right, the worst off by {np.nanmax(off):.1e} of its value: "
        "something is rounded on the way. Sums and products are kept in float32.",
    )


# Cells that nobody wrote


def _stripes(untouched: np.ndarray, block: tuple[int, ...]) -> Guess:
    """Rows or columns that are written with a period."""
    names = ("column", "row") if untouched.ndim > 1 else ("element",)
    for axis, (name, width) in enumerate(zip(names, block, strict=False)):
        others = tuple(each for each in range(untouched.ndim) if each != untouched.ndim - 1 - axis)
        written: Any = ~untouched.all(axis=others)
        period = next((p for p in range(2, written.size // 2 + 1) if _repeats(written, p)), None)
        if period is None or written[:period].all() or not written.any():
            continue
        some = f"only {runs(written[:period], name)} {_be(written[:period])} written"
        return "stripes", f"of every {period} {name}s {some}{_why(written[:period], width)}."
    return None


def _why(written: np.ndarray, width: int) -> str:
    """What a pattern of written places says of blocks that are `width` threads wide."""
    if written.size == width:
        return f": of a block's {width} threads that way, not all come to a line that stores"
    first = written[: int(written.sum())].all()
    if written.size > width and first:
        return (
            f": the blocks lie {written.size} apart, and each has {width} threads that way. Either "
            "a thread writes more than one, or the blocks lie too far apart"
        )
    return ""


def _repeats(mask: np.ndarray, period: int) -> bool:
    return bool((mask[period:] == mask[:-period]).all())


def _be(mask: np.ndarray) -> str:
    return "is" if mask.sum() == 1 else "are"
