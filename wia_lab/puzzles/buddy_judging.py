"""Judges what a buddy allocator replied, with a model that knows nothing of buddies' lists.

What must hold does not depend on which of equal free blocks an answer prefers. A request of a block
of 2^k must be served exactly when an aligned stretch of 2^k free bytes exists: that is what merging
as far as possible means. It must come from a smallest free block that holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.puzzles.puzzle import Diagnosis

if TYPE_CHECKING:
    from wia_lab.puzzles.host_puzzle import HostRun, Reply


OVERLAPPING = ("rounded-down", "merge-any-order", "merge-neighbours")
"""Causes, among those that scripts are for, of blocks that overlap."""


def block_of(size: int, minimum: int) -> int:
    """Bytes of the smallest block that holds `size` bytes."""
    return max(minimum, 1 << (size - 1).bit_length())


class _Model:
    """Who has which bytes, in units of the smallest block; knows nothing of buddies' lists."""

    def __init__(self, capacity: int, minimum: int) -> None:
        self.capacity = capacity
        self.minimum = minimum
        self.owner = np.full(capacity // minimum, -1)
        self.live: dict[int, tuple[int, int, int]] = {}  # offset -> number, asked, block

    def has_room(self, block: int) -> bool:
        """Whether an aligned stretch of `block` bytes is free."""
        if block > self.capacity:
            return False
        units = self.owner.reshape(-1, block // self.minimum)
        return bool((units == -1).all(axis=1).any())

    def source(self, offset: int, block: int) -> int:
        """Bytes of the free block, merged as far as possible, that a block at `offset` is of."""
        while block < self.capacity:
            start = offset // (2 * block) * (2 * block)
            units = self.owner[start // self.minimum : (start + 2 * block) // self.minimum]
            if (units != -1).any():
                break
            block *= 2
        return block

    def has_free(self, block: int) -> bool:
        """Whether a free block, merged as far as possible, has just so many bytes."""
        free = (self.owner.reshape(-1, block // self.minimum) == -1).all(axis=1)
        if block == self.capacity:
            return bool(free.any())
        return bool((free.reshape(-1, 2).sum(axis=1) == 1).any())

    def take(self, offset: int, number: int, size: int) -> None:
        """Enter a block."""
        block = block_of(size, self.minimum)
        self.owner[offset // self.minimum : (offset + block) // self.minimum] = number
        self.live[offset] = number, size, block

    def give(self, offset: int) -> None:
        """Strike a block."""
        _, _, block = self.live.pop(offset)
        self.owner[offset // self.minimum : (offset + block) // self.minimum] = -1


def diagnose(run: HostRun) -> Diagnosis | None:
    """Follow a script in the model; name the first reply that cannot be."""
    if run.replies[0].error is not None:
        return _crash(run, "making the allocator", run.replies[0])
    model = _Model(run.case.options["capacity"], run.case.options["minimum"])
    offsets: list[Any] = []
    larger: Diagnosis | None = None  # said last: what else is wrong explains more
    for (verb, argument), reply in zip(run.case.steps, run.replies[1:], strict=False):
        if verb == "alloc":
            larger = larger or _larger(run, model, argument, reply)
            found = _alloc(run, model, len(offsets), argument, reply)
            offsets.append(reply.value if reply.error is None else None)
        elif reply.value == "skipped":
            continue
        else:
            offset = offsets[argument] if verb == "free" else argument
            found = _free(run, model, offset, reply)
        if found is not None:
            return found
    return larger


def _larger(run: HostRun, model: _Model, size: int, reply: Reply) -> Diagnosis | None:
    """A larger block was split although a smaller one would have done."""
    offset = reply.value
    if reply.error is not None or size <= 0 or not isinstance(offset, (int, np.integer)):
        return None
    block = block_of(size, model.minimum)
    if offset < 0 or offset % block or offset + block > model.capacity:
        return None
    split, smaller = model.source(int(offset), block), block
    while smaller < split and not model.has_free(smaller):
        smaller *= 2
    if smaller == split:
        return None
    fits = "of just that size" if smaller == block else f"of {smaller:,} B"
    text = (
        f"alloc({size:,}) returned {offset:,}, in a free block of {split:,} B, which is split for "
        f"it, although there is a free one {fits}: split the smallest that is large enough, so "
        "that large ones are left for large requests."
    )
    return _say(run, "wrong-choice", text, "larger-split")


def _alloc(run: HostRun, model: _Model, number: int, size: int, reply: Reply) -> Diagnosis | None:
    what = f"alloc({size:,})"
    block = block_of(max(size, 1), model.minimum)
    if reply.error not in {None, "MemoryError", "ValueError"}:
        return _crash(run, what, reply)
    if size <= 0:
        return (
            None
            if reply.error == "ValueError"
            else _say(
                run,
                "accepted",
                f"{what} {_did(reply)}: raise ValueError for a size below 1.",
                "bad-size",
            )
        )
    room = model.has_room(block)
    if reply.error is not None:
        if room:
            return _refused(run, model, what, block, reply)
        if reply.error != "MemoryError":
            text = f"{what} {_did(reply)}: raise MemoryError when no block is large enough."
            return _say(run, "wrong-error", text, "wrong-error")
        return None
    return _placed(run, model, number, size, reply.value)


def _placed(run: HostRun, model: _Model, number: int, size: int, offset: Any) -> Diagnosis | None:
    """Look at where a block was put."""
    what, block = f"alloc({size:,})", block_of(size, model.minimum)
    if isinstance(offset, bool) or not isinstance(offset, (int, np.integer)):
        text = f"{what} returned {offset!r}: return the block's offset, an integer."
        return _say(run, "wrong-value", text, "no-offset")
    if offset < 0 or offset + block > model.capacity:
        text = (
            f"{what} returned {offset:,}: a block of {block:,} B there would leave the heap of "
            f"{model.capacity:,} B."
        )
        return _say(run, "out-of-bounds", text, "outside")
    if offset % block:
        text = (
            f"{what} returned {offset:,}, no multiple of its block's {block:,} B: a block starts "
            "where splitting the heap in halves puts one."
        )
        return _say(run, "wrong-value", text, "misplaced")
    first, last = offset // model.minimum, (offset + block) // model.minimum
    taken = model.owner[first:last]
    if (taken >= 0).any():
        other = int(taken[taken >= 0][0])
        start, asked, theirs = next((o, s, b) for o, (n, s, b) in model.live.items() if n == other)
        text = (
            f"{what} returned {offset:,}, but bytes {max(start, offset):,} to "
            f"{min(start + theirs, offset + block):,} belong to the live block of {asked:,} B at "
            f"{start:,}: one byte, two owners."
        )
        return _overlap(run, text)
    model.take(int(offset), number, size)
    return None


def _free(run: HostRun, model: _Model, offset: Any, reply: Reply) -> Diagnosis | None:
    what = f"free({offset:,})"
    if reply.error not in {None, "MemoryError", "ValueError"}:
        return _crash(run, what, reply)
    if offset in model.live:
        if reply.error is not None:
            return _say(run, "refused", f"{what} {_did(reply)}, but that block is live.", "lost")
        model.give(offset)
        return None
    if reply.error == "ValueError":
        return None
    text = (
        f"{what} {_did(reply)}, but no live block starts there: raise ValueError, and change "
        "nothing. A block freed twice would be handed out twice."
    )
    return _say(run, "accepted", text, "bad-free")


def _refused(run: HostRun, model: _Model, what: str, block: int, reply: Reply) -> Diagnosis:
    """A request was refused although there is room: split too little, or merged too little."""
    free = int((model.owner == -1).sum()) * model.minimum
    text = (
        f"{what} {_did(reply)}, but {free:,} of {model.capacity:,} B are free, and an aligned "
        f"stretch of {block:,} B among them."
    )
    return _say(run, "refused", text, "lost-memory")


def _overlap(run: HostRun, text: str) -> Diagnosis:
    """One byte has two owners: what the script is for explains it, or a stale free block."""
    if run.case.blame is not None and run.case.blame[0] in OVERLAPPING:
        return _say(run, "overlap", text, None)
    text += (
        "\nWhat is handed out, split or merged must leave the free blocks of its size, and of two "
        "halves only the one that stays free enters."
    )
    return _say(run, "overlap", text, "still-free")


def _say(run: HostRun, kind: str, text: str, cause: str | None) -> Diagnosis:
    """A diagnosis with the script's name, and its own explanation where it has one."""
    lines = [f"Script: {run.case.name}.", text]
    if run.case.blame is not None and cause in {None, "lost-memory", "misplaced"}:
        cause, sentence = run.case.blame
        lines.append(sentence)
    return Diagnosis(kind, "\n".join(lines), cause=cause)


def _crash(run: HostRun, what: str, reply: Reply) -> Diagnosis:
    line = "" if reply.line is None else f" on line {reply.line}"
    text = f"Script: {run.case.name}.\n{what} raised {reply.error}: {reply.text}{line}."
    return Diagnosis("crash", text, reply.line, "crash")


def _did(reply: Reply) -> str:
    return f"raised {reply.error}" if reply.error else f"returned {reply.value!r}"
