"""A hazard with all that is known of the array and the block that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.guards import source_of

if TYPE_CHECKING:
    from types import FunctionType

    from wia_lab.puzzles.fills import Fill, FillRecorder
    from wia_lab.puzzles.puzzle import Case
    from wia_lab.simt.hazards.found import Hazard


class Scene:
    """A hazard, with what is known of its array and block."""

    def __init__(
        self, function: FunctionType, case: Case, hazard: Hazard, recorder: FillRecorder
    ) -> None:
        self.case, self.hazard, self.recorder = case, hazard, recorder
        self.source = source_of(function)
        self.arrays = dict(
            zip(
                function.__code__.co_varnames[: function.__code__.co_argcount],
                case.arguments.values(),
                strict=False,
            )
        )
        self.array = hazard.array or ""
        self.threads = int(np.prod(case.block))
        place = hazard.threads[0].block
        self.block = _linear(place, case.grid)

    def fill(self, block: int | None = None) -> tuple[Fill, int] | None:
        """The hazard's shared array, as a block filled it."""
        return self.recorder.of_block(self.array, self.block if block is None else block)

    def block_name(self, number: int) -> str:
        """`block (2, 0)` for a block's number."""
        place, rest = [], number
        for length in self.case.grid:
            place.append(rest % length)
            rest //= length
        return f"block {place[0]}" if len(place) == 1 else f"block ({', '.join(map(str, place))})"


def _linear(place: tuple[int, ...], extent: tuple[int, ...]) -> int:
    number = 0
    for coordinate, length in reversed(list(zip(place, extent, strict=False))):
        number = number * length + coordinate
    return number
