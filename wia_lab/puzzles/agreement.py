"""Which cells of an answer's outputs agree with what they must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from wia_lab.puzzles.puzzle import Puzzle, Run

ROUNDED = 2.0**-20  # of a value: 16 times the rounding of a float32


def wrong_cells(puzzle: Puzzle, run: Run) -> dict[str, np.ndarray]:
    """For each output, the cells (flat) that differ from the reference by more than rounding."""
    inputs = run.case.inputs
    want, allowed = puzzle.reference(**inputs), puzzle.rounding(**inputs)
    return {
        name: ~agrees(got, want[name], allowed[name]).reshape(-1)
        for name, got in run.outputs.items()
    }


def agrees(got: np.ndarray, want: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Cells that are equal up to `allowed`; a NaN agrees with a NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(got.astype(np.float64) - want) <= allowed
    return near | (np.isnan(got) & np.isnan(want))
