"""The order of the puzzles, and how one is found by its id."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from wia_lab.errors import WiaLabError
from wia_lab.puzzles import (
    async_convolution,
    bank_conflicts,
    buddy_allocator,
    coalescing,
    conv_bn_relu_pool,
    device_query,
    first_kernel,
    halo_convolution,
    memory_pool,
    peer_to_peer,
    pipeline,
    reduction_softmax,
    register_tiling,
    start,
    three_levels,
    tiled_matmul,
)

if TYPE_CHECKING:
    from wia_lab.puzzles.host_puzzle import HostPuzzle
    from wia_lab.puzzles.puzzle import Puzzle

PUZZLES: dict[str, Puzzle] = {
    module.PUZZLE.id: module.PUZZLE
    for module in (
        start,
        first_kernel,
        coalescing,
        bank_conflicts,
        tiled_matmul,
        register_tiling,
        halo_convolution,
        async_convolution,
        pipeline,
        reduction_softmax,
        conv_bn_relu_pool,
    )
}
"""Every kernel puzzle by its id, in the order in which a learner meets them."""

HOST_PUZZLES: dict[str, HostPuzzle] = {
    module.PUZZLE.id: module.PUZZLE
    for module in (device_query, three_levels, buddy_allocator, memory_pool, peer_to_peer)
}
"""Every puzzle whose answer is a class on the host, in the same order."""


def every() -> list[Puzzle | HostPuzzle]:
    """Return all puzzles in the order of their numbers."""
    return sorted([*PUZZLES.values(), *HOST_PUZZLES.values()], key=lambda puzzle: puzzle.number)


class UnknownPuzzleError(WiaLabError):
    """There is no puzzle of that name."""

    exit_code = 2


def find(name: str) -> Puzzle | HostPuzzle:
    """The puzzle whose id, notebook or number is `name`: "tiled-matmul", "06-tiled-matmul", "6".

    Raises
    ------
    UnknownPuzzleError
        When there is none; the message names the nearest, or how they are listed.
    """
    if not isinstance(name, str):
        raise UnknownPuzzleError(
            f"a puzzle is named by a text, not by {name!r}: the name comes first, in quotes, as in "
            'check("tiled-matmul", tiled_matmul)'
        )
    for puzzle in every():
        if name in {puzzle.id, puzzle.stem, f"{puzzle.stem}.ipynb", puzzle.function}:
            return puzzle
        if name.isdecimal() and int(name) == puzzle.number:
            return puzzle
    ids = [puzzle.id for puzzle in every()]
    near = difflib.get_close_matches(name, ids, n=1) or [
        each for each in ids if len(name) > 2 and name.casefold() in each
    ]
    listed = f"wia-lab puzzles lists the {len(ids)} that there are"
    way_out = f"did you mean {near[0]!r}?" if near else listed
    raise UnknownPuzzleError(f"there is no puzzle {name!r}: {way_out}")
