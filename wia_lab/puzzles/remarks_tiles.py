"""What is wrong with how a block fills its shared memory, by stores or by asynchronous copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.fills import NOBODY
from wia_lab.puzzles.puzzle import Remark
from wia_lab.puzzles.whereabouts import places
from wia_lab.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wia_lab.puzzles.fills import Fill
    from wia_lab.puzzles.scene import Scene


def unfilled(scene: Scene) -> Remark | None:
    """How a shared array was filled in the block that reads an element of it too early."""
    found = scene.fill()
    index = scene.hazard.index
    if found is None or index is None:
        return None
    fill, row = found
    if not fill.shape:
        return None
    cell = int(np.ravel_multi_index(index, fill.shape))
    name = f"{scene.array}[{', '.join(map(str, index))}]"
    if fill.line[row, cell] != NOBODY:
        return Remark(
            "filled-later",
            f"{name} is filled, but later, on line {fill.line[row, cell]}: fill all that will be "
            "read first, let all threads of the block meet at a barrier, and read then.",
        )
    return (
        _not_by_all(scene, fill, row, index)
        or _left_out_here(scene, fill, row, cell, name)
        or _never_filled(scene, fill, row)
    )


def _not_by_all(scene: Scene, fill: Fill, row: int, index: tuple[int, ...]) -> Remark | None:
    """A copy that only some threads ask for."""
    for line, threads in fill.threads.items():
        taking = threads[row]
        if "copy_dram_to_sram_async" not in scene.source.text(line) or not taking.any():
            continue
        if taking[index[-1] % scene.threads]:
            continue
        take = "takes" if taking.sum() == 1 else "take"
        return Remark(
            "copy-not-by-all",
            f"only {taking.sum()} of the block's {scene.threads} threads {take} part in the copy "
            f"on line {line}. All threads of a block share out its elements, so all must "
            "come to that line: it stands outside of every `if` and early return.",
        )
    return None


def _left_out_here(scene: Scene, fill: Fill, row: int, cell: int, name: str) -> Remark | None:
    """An element that other blocks fill: a condition leaves it out in this one."""
    for line in fill.stores:
        for other in (each for each in scene.recorder.fills.items() if each[0][0] == scene.array):
            filled = other[1].line[:, cell] == line
            if not filled.any() or line not in other[1].stores:
                continue
            there = int(np.argmax(filled))
            most = int(other[1].stores[line][there])
            if int(fill.stores[line][row]) >= most:
                continue
            asked = scene.source.guards(line, scene.array)
            condition = f"{asked[0]} keeps" if asked else "something keeps"
            return Remark(
                "left-out-by-a-condition",
                f"line {line} fills {name} in {scene.block_name(other[0][1] + there)}. Here it "
                f"stores {counted(int(fill.stores[line][row]), 'time')} instead of {most:,}: "
                f"{condition} it from the rest.",
            )
    return None


def _never_filled(scene: Scene, fill: Fill, row: int) -> Remark:
    """Elements that no line fills: which they are."""
    missing = fill.missed[row] & (fill.line[row] == NOBODY)
    filled = fill.line[row] != NOBODY
    lines = sorted({int(line) for line in np.unique(fill.line[row][filled])})
    if not lines:
        return Remark(
            "nothing-filled",
            f"in this block no thread stores anything to {scene.array} before it is read.",
        )
    one = len(lines) == 1
    said = f"line{'s' if len(lines) > 1 else ''} {_and(lines)}"
    stores, clashes = (
        sum(int(each[line][row]) for line in lines) for each in (fill.stores, fill.clashes)
    )
    needed = fill.missed[row] | filled
    start = (
        f"{said} fill{'s' if one else ''} {_count(filled)} of {scene.array}, and nobody fills "
        f"{places(missing, fill.shape, needed)}"
    )
    if 4 * clashes >= stores:
        return Remark(
            "filled-twice",
            f"{start}. {'It stores' if one else 'They store'} "
            f"{counted(stores, 'time')}, so threads "
            "fill the same elements: look at how far apart the elements of neighbouring threads "
            "lie, and those of one thread.",
        )
    if (count := int(needed.sum())) > scene.threads:
        more = (
            f": {count:,} are needed and the block has {counted(scene.threads, 'thread')}, so a "
            "thread fills more than one."
        )
    else:
        more = ", though they are read."
    return Remark("never-filled", f"{start}{more}")


def _count(mask: np.ndarray) -> str:
    number = int(mask.sum())
    return f"{number:,} element{'' if number == 1 else 's'}"


def _and(numbers: Sequence[int]) -> str:
    *rest, last = map(str, numbers)
    return f"{', '.join(rest)} and {last}" if rest else last


# Copies


def other_buffer(scene: Scene) -> Remark | None:
    """What is read is on its way, while another row of the array lies ready."""
    found, index = scene.fill(), scene.hazard.index
    row = None if found is None else found[0].waiting.get(scene.hazard.line)
    if row is None or index is None or row == index[0]:
        return None
    return Remark(
        "other-buffer",
        f"{scene.array}[{index[0]}] is read while its content is still on its way, and what has "
        f"arrived in {scene.array}[{row}] lies there unread: see which of them this turn is to "
        "compute from.",
    )


def one_group(scene: Scene) -> Remark | None:
    """Two copies into different buffers that one group holds."""
    before = scene.hazard.other_line
    if before is None or before not in scene.recorder.joined:
        return None
    other, closed = scene.recorder.joined[before]
    return Remark(
        "one-group",
        f"the copies on lines {before} and {other} are in one group, which line {closed} closes, "
        "so no wait can tell one from the other: close a group after each with "
        "cuda.cp_async_commit_group().",
    )


def replaced(scene: Scene) -> Remark | None:
    """A copy into a buffer whose last content nobody has read."""
    hazard, found = scene.hazard, scene.fill()
    if found is None or hazard.line not in found[0].lost:
        return None
    before = found[0].lost[hazard.line]
    there = "an earlier turn brought" if before == hazard.line else f"line {before} brought"
    return Remark(
        "replaced-unread",
        f"the copy goes to where nobody has read yet what {there}, and would replace it: copy into "
        "a buffer that is free, or later, when this one's content has been used and all threads "
        "have met at a barrier.",
    )
