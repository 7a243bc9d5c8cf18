"""The second judge: the same kernel on the GPU, where there is one.

It runs after the simulator has found nothing wrong, in a process that can be killed, on the first
inputs only. Results that differ from the simulator's by no more than rounding agree: hardware
computes a·b + c with one rounding (a fused multiply-add), the simulator with two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.cuda import choice
from wia_lab.cuda.errors import JudgeError
from wia_lab.cuda.judge import run_on_hardware
from wia_lab.puzzles.puzzle import Diagnosis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wia_lab.cuda.judge import HardwareRun
    from wia_lab.puzzles.puzzle import Puzzle, Run

LAUNCHES = 2
"""Inputs that the GPU sees: each costs the start of a process and of CUDA."""

FUSED = "hardware rounds a·b + c once (fused), the simulator rounds twice"


def is_present() -> bool:
    """Whether launches of this process go to a GPU."""
    return choice.backend() == "hardware"


def second_opinion(puzzle: Puzzle, answer: object, runs: Sequence[Run]) -> Diagnosis | str:
    """Run on the GPU what the simulator passed: a diagnosis, or a sentence that they agree."""
    furthest = 0.0
    for run in runs[:LAUNCHES]:
        case = run.case
        arguments = tuple(array.copy() for array in case.arguments.values())
        try:
            done = run_on_hardware(answer, case.grid, case.block, arguments)
        except JudgeError as error:
            return Diagnosis("hardware", f"With {case.name}: {error}")
        wrong, difference = compare(puzzle, run, done)
        if wrong is not None:
            return wrong
        furthest = max(furthest, difference)
    if furthest:
        return f"The GPU agrees, to {furthest:.1g}: {FUSED}."
    return "The GPU agrees, bit for bit."


def compare(puzzle: Puzzle, run: Run, done: HardwareRun) -> tuple[Diagnosis | None, float]:
    """Compare one launch on the GPU with the simulator's.

    Returns
    -------
    tuple
        What is wrong, or None; and the largest difference of two cells, which rounding explains.
    """
    where = f"With {run.case.name}"
    if done.arguments is None:
        text = f"{where}: {done.problem}. The simulator found nothing wrong with it."
        return Diagnosis("hardware", text), 0.0
    allowed = puzzle.rounding(**run.case.inputs)
    results = dict(zip(run.case.arguments, done.arguments, strict=True))
    furthest = 0.0
    for name, simulated in run.outputs.items():
        measured = results[name]
        difference = np.abs(measured.astype(np.float64) - simulated.astype(np.float64))
        # Both may be off the true value by as much as rounding allows, in opposite directions
        bad = ~(difference <= 2 * allowed[name])
        if bad.any():
            cell = tuple(int(i) for i in np.argwhere(bad)[0])
            text = (
                f"{where}: {name}[{', '.join(map(str, cell))}] is {measured[cell]:.6g} on the GPU "
                f"and {simulated[cell]:.6g} on the simulator; {int(bad.sum()):,} of {bad.size:,} "
                f"cells differ by more than rounding ({FUSED})."
            )
            return Diagnosis("hardware", text), 0.0
        furthest = max(furthest, float(difference.max(initial=0.0)))
    return None, furthest
