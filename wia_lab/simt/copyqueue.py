"""Asynchronous copies on their way: issued, committed, arrived.

Each lane has a queue of groups, as on hardware. Data lands when the lane that issued the copy waits
for its group, and what the source holds *then* lands: that is as late as hardware may be, so a
kernel that does not wait, or writes the source too early, sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from wia_lab.simt.events import AsyncCopy, Site


@dataclass(slots=True)
class _Pending:
    copy: AsyncCopy
    open: np.ndarray  # lanes whose copy has not been committed
    committed: np.ndarray  # lanes whose copy has been committed and has not landed
    group: np.ndarray  # int32, a lane: number of the group that took it


class CopyQueue:
    """The copies of one chunk that have not landed."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine
        self.pending: list[_Pending] = []
        self.groups = np.zeros(machine.lanes, np.int32)  # groups each lane has committed
        self.issued = 0

    def issue(self, copy: AsyncCopy) -> None:
        """Lanes issue a copy."""
        lanes = copy.active.size
        self.issued += 1
        self.machine.listeners.on_async_copy(copy)
        self.pending.append(
            _Pending(copy, copy.active, np.zeros(lanes, bool), np.zeros(lanes, np.int32))
        )

    def commit(self, site: Site, lanes: np.ndarray) -> None:
        """Lanes close a group of all copies that they have issued and not committed."""
        copies = {}
        for entry in self.pending:
            now = entry.open & lanes
            if now.any():
                copies[entry.copy.number] = now
                entry.open = entry.open & ~lanes
                entry.committed = entry.committed | now
                entry.group = np.where(now, self.groups, entry.group)
        self.groups[lanes] += 1
        self.machine.listeners.on_async_commit(site, lanes, copies)

    def wait(self, site: Site, lanes: np.ndarray, pending: int | None) -> None:
        """Lanes wait until at most `pending` of their groups are under way; None: for all."""
        arrived = {}
        for entry in list(self.pending):
            if pending is None:
                now = (entry.open | entry.committed) & lanes
                entry.open = entry.open & ~lanes
            else:
                now = entry.committed & lanes & (entry.group < self.groups - pending)
            if not now.any():
                continue
            arrived[entry.copy.number] = now
            entry.committed = entry.committed & ~now
            self._land(entry.copy, now)
            if not (entry.open.any() or entry.committed.any()):
                self.pending.remove(entry)
        self.machine.listeners.on_async_wait(site, lanes, arrived)

    def _land(self, copy: AsyncCopy, lanes: np.ndarray) -> None:
        source, destination = copy.source.data, copy.destination.data
        span = np.arange(copy.nbytes)
        to = copy.destination_offsets[lanes][:, None] + span
        from_ = np.clip(copy.source_offsets[lanes][:, None] + span, 0, source.size - 1)
        values = np.where(copy.zero_filled[lanes][:, None], 0, source[from_])
        destination[to] = values
        self.machine.changed(copy.destination, copy.destination_offsets, lanes)
