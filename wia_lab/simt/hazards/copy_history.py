"""What lanes have closed and waited for, and what one should have done to wait for a copy.

A wait for groups sees those that were closed before it, and leaves the newest few in flight. So a
copy is still under way for one of several reasons, each with its own way out: no group holds it, a
newer copy lacks the group that would have made this one's the second newest, nothing was closed
since the wait before, or the number asked for is too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wia_lab.simt.events import AsyncCopy, Launch
    from wia_lab.simt.hazards.found import Findings
    from wia_lab.simt.hazards.order import Order

NEVER = 0  # no event has this moment

COMMIT = "cuda.cp_async_commit_group()"


@dataclass(slots=True, eq=False)
class Copy:
    """One copy instruction, and how far each lane's part of it has come."""

    event: AsyncCopy
    pending: np.ndarray  # bool: issued, not landed
    closed: np.ndarray  # int32: moment at which the lane's part went into a group, or NEVER
    group: np.ndarray  # int32: the lane's how-manieth group that was
    issued: int  # moment

    @classmethod
    def of(cls, event: AsyncCopy, moment: int) -> Copy:
        """A copy that was just issued."""
        lanes = event.active
        closed, group = (np.zeros(lanes.size, np.int32) for _ in range(2))
        return cls(event, lanes.copy(), closed, group, moment)


class History:
    """What each lane of a chunk has closed and waited for."""

    def __init__(self, findings: Findings, order: Order) -> None:
        self.findings, self.order = findings, order

    def begin(self, launch: Launch) -> None:
        """A launch begins."""
        self.sites = launch.sites

    def begin_chunk(self, lanes: int) -> None:
        """A chunk begins: nothing is closed, nothing was waited for."""
        self._groups = np.zeros(lanes, np.int32)
        # The last wait and the one before it: when, and how many groups were closed then
        self._waits = [(np.zeros(lanes, np.int32), np.zeros(lanes, np.int32)) for _ in range(2)]
        self._brought = np.zeros(lanes, bool)  # whether the last wait had something land

    def close(self, lanes: np.ndarray, parts: Iterable[tuple[Copy, np.ndarray]], now: int) -> None:
        """Lanes closed a group that holds their parts of some copies."""
        for copy, part in parts:
            copy.closed[part] = now
            copy.group[part] = self._groups[part]
        self._groups[lanes] += 1

    def wait(self, lanes: np.ndarray, arrived: Iterable[np.ndarray], now: int) -> None:
        """Lanes waited; of each copy that landed, for which of them it did."""
        self._brought[lanes] = False
        for part in arrived:
            self._brought |= part
        last, before = self._waits
        for kept, newer in zip(before, last, strict=True):
            kept[lanes] = newer[lanes]
        last[0][lanes] = now
        last[1][lanes] = self._groups[lanes]

    def advice(self, copy: Copy, lane: int, copies: Iterable[Copy]) -> str:
        """What the copying lane should have done to wait for a copy; `copies` are all of them."""
        waited, groups = (int(each[lane]) for each in self._waits[0])
        closed = int(copy.closed[lane])
        if closed == NEVER:
            if waited <= copy.issued:
                return "call cuda.cp_async_wait_all() before"
            return (
                f"the copy is in no group, so the wait on {self._line(waited)} cannot see it, nor "
                f"can any other wait for groups; call {COMMIT} between the copy and the wait"
            )
        if copy.issued < waited < closed:
            return (
                f"its group is closed on {self._line(closed)}, after the wait on "
                f"{self._line(waited)}, which so cannot see it; call {COMMIT} before the wait"
            )
        group = int(copy.group[lane])
        if waited < closed:
            newer = int(self._groups[lane]) - 1 - group
            return f"call cuda.cp_async_wait_group({newer}) or cuda.cp_async_wait_all() before"
        newer = groups - 1 - group
        return (
            ("" if newer else self._newer_without_group(copy, lane, copies))
            or self._none_closed_since(copy, lane, newer)
            or ("" if newer else self._one_brought(lane))
            or f"the wait on {self._line(waited)} leaves its group pending, where "
            f"cuda.cp_async_wait_group({newer}) would wait for it"
        )

    def _newer_without_group(self, copy: Copy, lane: int, copies: Iterable[Copy]) -> str:
        """A copy issued after this one and before the wait, which no group held by then."""
        waited = int(self._waits[0][0][lane])
        loose = next(
            (
                each
                for each in copies
                if each.pending[lane]
                and copy.issued < each.issued < waited
                and not NEVER < each.closed[lane] < waited
            ),
            None,
        )
        if loose is None:
            return ""
        line, wait = self.findings.at(loose.event.site), self._line(waited)
        late = int(loose.closed[lane])
        when = "is in no group" if late == NEVER else f"gets its group only on {self._line(late)}"
        return (
            f"the newer copy on {line} {when}, so the wait on {wait} takes this one's group for "
            f"the newest and leaves it in flight; call {COMMIT} between {line} and the wait"
        )

    def _none_closed_since(self, copy: Copy, lane: int, newer: int) -> str:
        """Two waits in a row left the copy in flight, and no group was closed between them."""
        (waited, groups), (before, then) = self._waits
        if before[lane] < copy.closed[lane] or groups[lane] != then[lane]:
            return ""
        newest = "newest group" if not newer else f"newest {newer + 1} groups"
        here = "that is" if not newer else "among them is"
        return (
            f"the wait on {self._line(int(waited[lane]))} leaves the {newest} in flight, and as no "
            f"group was closed since the wait before, {here} still this one; close a group before "
            f"every wait, an empty one where nothing is copied ({COMMIT} outside of the `if`), or "
            f"let this turn alone wait with cuda.cp_async_wait_group({newer})"
        )

    def _one_brought(self, lane: int) -> str:
        """The wait did its work for an earlier copy, and this one was used after it."""
        if not self._brought[lane]:
            return ""
        return (
            f"the wait on {self._line(int(self._waits[0][0][lane]))} brought an earlier copy and "
            "leaves this one's group, the newest, in flight; wait once more before this one is "
            "used, with cuda.cp_async_wait_group(0), or use what has arrived"
        )

    def _line(self, moment: int) -> str:
        return self.findings.at(self.sites[int(self.order.site_at[moment])])
