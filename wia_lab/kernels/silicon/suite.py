"""All cases, in the order in which they are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.kernels.silicon import async_copies, atomics, control, global_memory, shared_memory

if TYPE_CHECKING:
    from wia_lab.kernels.silicon.case import Case

CASES: dict[str, Case] = {
    case.name: case
    for topic in (global_memory, shared_memory, atomics, control, async_copies)
    for case in topic.CASES
}
"""Name → case."""
