"""18 buddy-allocator: blocks of a power of two, split in halves and merged again.

`BuddyAllocator(capacity, minimum)` has `alloc(size) -> offset` and `free(offset)`. In the source
documents (chapter 4, 4.2.1) the split stops one level early, so that 256 B asked of 1,024 B take
512, and the merge never goes on with the merged block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wia_lab.puzzles.buddy_judging import diagnose
from wia_lab.puzzles.host_judge import call, file_of
from wia_lab.puzzles.host_puzzle import HostCase, HostPuzzle, HostRun, Reply, Step
from wia_lab.puzzles.puzzle import Gate

CAPACITY, MINIMUM = 1024, 64  # bytes, of the small scripts
LARGE = 1 << 18  # bytes, of the measured one


def cases(rng: np.random.Generator) -> list[HostCase]:
    """Directed scripts, each for one mistake; then random ones; then a full heap, measured."""
    return [
        _case(
            "four requests of 256 B from 1,024 B",
            _allocs(256, 4),
            (
                "loose-split",
                "256 B fill a block of 256 B exactly: round up to the smallest power of two that "
                "holds the request, and split down to that; one level early hands out 512 B.",
            ),
        ),
        _case(
            "two halves freed, the whole asked for",
            (*_allocs(512, 2), ("free", 0), ("free", 1), ("alloc", 1024), ("alloc", 64)),
            (
                "no-merge",
                "When both buddies are free, they become the block that they came from, whichever "
                "was freed last: the buddy of an upper half lies before it, at offset ^ block.",
            ),
        ),
        _case(
            "four quarters freed, the whole asked for",
            (*_allocs(256, 4), *(("free", n) for n in (1, 0, 3, 2)), ("alloc", 1024)),
            (
                "merge-once",
                "A merged block may have a free buddy too: go on merging with the larger block.",
            ),
        ),
        _case(
            "requests of 100 B",
            _allocs(100, 8),
            ("rounded-down", "A block must hold its request: 100 B need one of 128 B."),
        ),
        _case(
            "a request too many, then one that fits",
            (("alloc", 512), ("alloc", 1024), ("alloc", 512)),
            ("refusal-changed", "A request that is refused must leave the heap as it was."),
        ),
        _case(
            "a buddy of which a part is free",
            (
                *_allocs(256, 4),
                ("free", 1),
                *_allocs(64, 2),
                ("free", 4),
                ("free", 0),
                ("alloc", 512),
                ("alloc", 256),
            ),
            (
                "merge-any-order",
                "A block merges only with a buddy that is free as a whole, which is one that is "
                "among the free blocks of its own size.",
            ),
        ),
        _case(
            "neighbours that are no buddies",
            (
                *_allocs(128, 8),
                ("free", 1),
                ("free", 2),
                ("alloc", 256),
                ("free", 0),
                ("alloc", 256),
            ),
            (
                "merge-neighbours",
                "Two blocks side by side are buddies only if they were one block: their offsets "
                "differ in the one bit that is their size.",
            ),
        ),
        _case(
            "a full heap, then one request more",
            (*_allocs(64, 16), ("alloc", 1), ("free", 3), ("alloc", 1), ("alloc", 1)),
            None,
        ),
        _case(
            "sizes that cannot be",
            (("alloc", 0), ("alloc", -64), ("alloc", 1025), ("alloc", 1024)),
            None,
        ),
        _case(
            "frees that cannot be",
            (
                ("alloc", 64),
                ("alloc", 64),
                ("free", 0),
                ("free", 0),
                ("free-at", 32),
                ("free-at", 4096),
                ("alloc", 64),
                ("alloc", 64),
                ("free", 1),
                ("free", 2),
                ("free", 3),
                ("alloc", 1024),
            ),
            None,
        ),
        *(_random(rng, number) for number in range(3)),
        _measured(),
    ]


def _case(name: str, steps: tuple[Step, ...], blame: tuple[str, str] | None) -> HostCase:
    return HostCase(name, steps, {"capacity": CAPACITY, "minimum": MINIMUM}, blame)


def _allocs(size: int, count: int) -> tuple[Step, ...]:
    return (("alloc", size),) * count


def _random(rng: np.random.Generator, number: int) -> HostCase:
    """150 operations on a range that is often full; all is freed at the end, then taken whole."""
    capacity, minimum = 1 << int(rng.integers(12, 15)), 1 << int(rng.integers(5, 8))
    steps: list[Step] = []
    live: list[int] = []
    allocations = 0
    for _ in range(150):
        if live and rng.random() < 0.4:
            steps.append(("free", live.pop(int(rng.integers(len(live))))))
        else:
            steps.append(("alloc", int(2 ** rng.uniform(0, np.log2(capacity / 4)))))
            live.append(allocations)
            allocations += 1
    rng.shuffle(live)
    steps += [("free", n) for n in live]
    steps.append(("alloc", capacity))
    options = {"capacity": capacity, "minimum": minimum}
    return HostCase(f"random requests, script {number + 1}", tuple(steps), options)


def _measured() -> HostCase:
    """A heap of 4,096 blocks of which every second is freed, then pairs of operations."""
    steps: list[Step] = [("alloc", MINIMUM)] * (LARGE // MINIMUM)
    steps += [("free", n) for n in range(0, LARGE // MINIMUM, 2)]
    steps += [("alloc", MINIMUM), ("free", 1)] + [("alloc", MINIMUM)] * 64
    return HostCase(
        f"{LARGE // MINIMUM:,} blocks",
        tuple(steps),
        {"capacity": LARGE, "minimum": MINIMUM},
        measured=True,
    )


def play(answer: type, case: HostCase) -> HostRun:
    """Play a script. `("free", n)` frees what the n-th alloc returned; a failed one is skipped."""
    file = file_of(answer)
    made = call(answer, case.options["capacity"], case.options["minimum"], file=file)
    if made.error is not None:
        return HostRun(case, (made,))
    replies = [Reply()]
    offsets: list[Any] = []
    for verb, argument in case.steps:
        if verb == "alloc":
            reply = call(made.value.alloc, argument, file=file)
            offsets.append(reply.value if reply.error is None else None)
        elif verb == "free-at":
            reply = call(made.value.free, argument, file=file)
        elif offsets[argument] is None:
            reply = Reply(value="skipped")
        else:
            reply = call(made.value.free, offsets[argument], file=file)
        replies.append(reply)
        if reply.error is not None and reply.error not in {"MemoryError", "ValueError"}:
            break
    return HostRun(case, tuple(replies))


def _lines(run: Any) -> float:
    """Most lines that one operation took."""
    return max(reply.lines for reply in run.replies[1:])


def _served(run: Any) -> float:
    """Requests served."""
    pairs = zip(run.case.steps, run.replies[1:], strict=True)
    return sum(step[0] == "alloc" and reply.error is None for step, reply in pairs)


def _asked(case: Any) -> float:
    """Requests of the script."""
    return sum(step[0] == "alloc" for step in case.steps)


def _blocks(case: Any) -> float:
    """Blocks that a search looks at, one line each."""
    return float(case.options["capacity"] // case.options["minimum"])


HINTS = (
    """\
Draw the heap of 1,024 B as a tree: each block has two halves. Ask for 256 B, and mark what is free
after it. Which sizes of free blocks are left? Now free it again: which two blocks meet first, and
what do they become?

A block's buddy is the other half of the block that it came from. How do their offsets differ?""",
    """\
alloc: find the smallest block size that holds the request. Look for a free block of that size; if
there is none, of double the size, and so on. Then split what you found until it has the size you
wanted. Of each split the lower half goes on, and the upper half, at offset + half, stays free.

free: the buddy of the block at `offset` is at `offset ^ block`: the one bit that is the block's
size is flipped. While that buddy is among the free blocks *of the same size*, take it out of them
and go on with the pair.""",
    """\
The two loops, with a line left out of each:

    while block > wanted:
        block //= 2
        ...                          # the upper half becomes free

    while block < self.capacity and (offset ^ block) in self.free_blocks[block]:
        self.free_blocks[block].remove(offset ^ block)
        offset = min(offset, offset ^ block)
        ...                          # the pair is one block of double the size

Before them: what may size be, and which offsets may be freed? Raise before you change anything.""",
)

PUZZLE = HostPuzzle(
    number=18,
    id="buddy-allocator",
    title="Buddy allocator",
    teaches="a block's buddy is one flipped bit away, so splitting and merging need no search",
    function="BuddyAllocator",
    signature=("alloc", "free"),
    cases=cases,
    play=play,
    diagnose=diagnose,
    hints=HINTS,
    gates=(
        Gate(
            name="lines of Python in the longest operation",
            measure=_lines,
            naive=_blocks,
            at_most=lambda _: 200,
            advice=(
                "With 4,096 blocks an operation looks at many of them: keep the free blocks by "
                "size, and compute a buddy's offset instead of searching for it."
            ),
        ),
        Gate(
            name="requests served",
            measure=_served,
            naive=lambda _: 0,
            at_least=_asked,
            advice="Every request of the full heap must be served.",
        ),
    ),
)
