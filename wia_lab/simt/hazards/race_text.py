"""What a race's message says: both lines, both threads, the element, and the way out."""

from __future__ import annotations

import ast
import linecache
from typing import TYPE_CHECKING, NamedTuple

from wia_lab.simt.compiled_hazards import (
    ATOMIC_AFTER_READ,
    ATOMIC_AFTER_WRITE,
    READ_AFTER_ATOMIC,
    READ_AFTER_WRITE,
    WRITE_AFTER_ATOMIC,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
)

if TYPE_CHECKING:
    from wia_lab.simt.events import Site
    from wia_lab.simt.hazards.found import Findings
    from wia_lab.simt.memory import Space


class Conflict(NamedTuple):
    """Two unordered accesses: `thread` at `site` now, `other` at `other_site` before."""

    kind: int
    space: Space
    offset: int
    thread: int
    other: int
    site: Site
    other_site: Site


_VERBS = {
    READ_AFTER_WRITE: ("reads", "wrote"),
    WRITE_AFTER_READ: ("writes", "read"),
    WRITE_AFTER_WRITE: ("writes", "wrote"),
    READ_AFTER_ATOMIC: ("reads", "changed with an atomic"),
    WRITE_AFTER_ATOMIC: ("writes", "changed with an atomic"),
    ATOMIC_AFTER_WRITE: ("changes with an atomic", "wrote"),
    ATOMIC_AFTER_READ: ("changes with an atomic", "read"),
}


def race_message(conflict: Conflict, findings: Findings) -> str:
    """`line 9: thread 0 of block 0 reads tile[63], which thread 63 of block 0 wrote …`."""
    now, before = _VERBS[conflict.kind]
    other = findings.thread(conflict.other)
    same_block = findings.thread(conflict.thread).block == other.block
    value = " with another value" if conflict.kind == WRITE_AFTER_WRITE else ""
    where = f"{value} on {_other_line(conflict, findings)}"
    between = "with no barrier between" if same_block else "and nothing orders two blocks"
    return (
        f"{findings.at(conflict.site)}: {findings.thread(conflict.thread)} {now} "
        f"{conflict.space.place(conflict.offset)}, which {other} {before}{where}, {between}: "
        f"{remedy(conflict, findings)}"
    )


def _other_line(conflict: Conflict, findings: Findings) -> str:
    here, there = findings.at(conflict.site), findings.at(conflict.other_site)
    return "the same line" if here == there else there


def remedy(conflict: Conflict, findings: Findings) -> str:
    """What to do about a race: the end of its message."""
    threads = findings.thread(conflict.thread), findings.thread(conflict.other)
    same_block = threads[0].block == threads[1].block
    here, there = conflict.site.line, conflict.other_site.line
    if conflict.kind == WRITE_AFTER_WRITE:
        rest = ", or put cuda.syncthreads() between" if same_block and here != there else ""
        return f"let one thread write it, or combine the values with cuda.atomic{rest}"
    if not same_block:
        return (
            "use cuda.atomic where blocks share an element, or let a second launch do what has to "
            "come after"
        )
    if here == there:
        return (
            "use cuda.atomic.add if all threads add to one element; else read into a variable and "
            "put cuda.syncthreads() before the write and after it"
        )
    if conflict.site.file == conflict.other_site.file and here < there and _loop(conflict):
        return (
            f"put cuda.syncthreads() after line {there}, before the loop comes back to line {here}"
        )
    return "put cuda.syncthreads() between the two lines"


def _loop(conflict: Conflict) -> bool:
    """Whether a loop runs over both lines, or the source is not to be had."""
    file = conflict.site.file
    here, there = conflict.site.line, conflict.other_site.line
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return True
    loops = [node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While))]
    inside = (loop.lineno <= here and there <= (loop.end_lineno or there) for loop in loops)
    return not tree.body or any(inside)


def overlap_message(conflict: Conflict, findings: Findings) -> str:
    """Two threads write the same value to one element."""
    return (
        f"{findings.at(conflict.site)}: {findings.thread(conflict.thread)} writes to "
        f"{conflict.space.place(conflict.offset)} the value that "
        f"{findings.thread(conflict.other)} writes there on {_other_line(conflict, findings)}: "
        "it does no harm while the values agree, but let one thread write it, or check that each "
        "thread's index is its own"
    )


def protocol_message(conflict: Conflict, findings: Findings) -> str:
    """A flag set with a plain store after a fence, and used with atomics elsewhere."""
    now, before = _VERBS[conflict.kind]
    return (
        f"{findings.at(conflict.site)}: {findings.thread(conflict.thread)} {now} "
        f"{conflict.space.place(conflict.offset)}, which {findings.thread(conflict.other)} "
        f"{before} on {_other_line(conflict, findings)}: a flag that is set with a plain store "
        "after a fence cannot be followed here, and the compiler may move it; set it with "
        "cuda.atomic.exch"
    )
