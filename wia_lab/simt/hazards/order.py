"""What happens before what: the moments of barriers and warp operations.

Events are numbered as they are reported; a number is a *moment*. Barriers, warp operations and
grid barriers order what happened up to a moment. Every array here is replaced when it changes,
never written, so that whoever keeps an event also keeps the order it ran under.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from wia_lab.simt.events import Chunk, Launch, Site

WARP = 32


class When(NamedTuple):
    """The order that an event runs under."""

    floor: int  # everything up to this moment is ordered before the event
    barriers: np.ndarray  # int32: each block's last barrier
    syncs: np.ndarray  # int32: each warp's last operation of the whole warp
    mates: np.ndarray  # int32, (lanes, 32) or (0, 32): up to when a lane knows its warp's lanes
    known: np.ndarray  # int32: what each lane has learnt by fences; none where there are none


class Order:
    """Moments at which threads were last ordered after each other."""

    def __init__(self) -> None:
        self.now = 0
        self.floor = 0  # everything up to this moment is ordered before all that follows
        self.chunk_floor = 0  # the same for memory that only this chunk sees
        self.site_at = np.zeros(1 << 10, np.int32)  # site number of each moment
        self.known = np.zeros(0, np.int32)

    def begin(self, launch: Launch) -> None:
        """A launch begins."""
        self.now = self.floor = self.chunk_floor = 0
        self.known = np.zeros(0, np.int32)

    def begin_chunk(self, chunk: Chunk) -> None:
        """A chunk begins: its blocks have met no barrier yet."""
        self.blocks, self.stride = chunk.blocks, chunk.stride
        self.first = chunk.first_block * chunk.stride
        self.chunk_floor = self.now
        self.full = chunk.full
        self.barriers = np.zeros(chunk.blocks, np.int32)
        self.syncs = np.zeros(chunk.lanes // WARP, np.int32)
        self.mates = np.zeros((0, WARP), np.int32)
        bits = np.uint32(1) << np.arange(WARP, dtype=np.uint32)
        present = chunk.full.reshape(-1, WARP)
        self._whole = np.repeat((present * bits).sum(axis=1, dtype=np.uint32), WARP)
        self._changed()

    def _changed(self) -> None:
        self.when = When(self.floor, self.barriers, self.syncs, self.mates, self.known)

    def learnt(self, known: np.ndarray) -> None:
        """Lanes know more of others than barriers tell."""
        self.known = known
        self._changed()

    def tick(self, site: Site) -> int:
        """The moment of a new event."""
        now = self.now = self.now + 1
        if now >= self.site_at.size:
            self.site_at = np.concatenate([self.site_at, np.zeros_like(self.site_at)])
        self.site_at[now] = site.number
        return now

    def passing(self, lanes: np.ndarray) -> np.ndarray:
        """Blocks of the chunk that some of `lanes` belong to, as bools."""
        blocks: np.ndarray = np.any(lanes.reshape(self.blocks, self.stride), axis=1)
        return blocks

    def barrier(self, site: Site, blocks: np.ndarray) -> None:
        """Blocks passed a barrier: all that they did is ordered before what they do."""
        self.barriers = np.where(blocks, np.int32(self.tick(site)), self.barriers)
        self._changed()

    def grid_barrier(self, site: Site) -> None:
        """The whole grid met."""
        self.floor = self.tick(site)
        self._changed()

    def warp_sync(self, site: Site, lanes: np.ndarray, members: np.ndarray) -> None:
        """Lanes met others of their warp: those in `members`, a uint32 mask a lane."""
        now = np.int32(self.tick(site))
        masks = np.broadcast_to(np.asarray(members), lanes.shape).astype(np.uint32, copy=False)
        whole = (masks & self._whole) == self._whole
        met = (lanes & whole).reshape(-1, WARP).any(axis=1)
        if met.any():
            self.syncs = np.where(met, now, self.syncs)
        partial = lanes & ~whole
        if partial.any():
            self._sync_some(partial, masks, now)
        self._changed()

    def _sync_some(self, lanes: np.ndarray, masks: np.ndarray, now: np.int32) -> None:
        """Join what the members of each mask know of each other: a vector clock a lane."""
        mates = self.mates.copy() if self.mates.size else np.zeros((lanes.size, WARP), np.int32)
        warps = np.flatnonzero(lanes.reshape(-1, WARP).any(axis=1))
        clocks = mates.reshape(-1, WARP, WARP)[warps]
        run, mask = lanes.reshape(-1, WARP)[warps], masks.reshape(-1, WARP)[warps]
        named = (mask[:, :, None] >> np.arange(WARP, dtype=np.uint32)) & np.uint32(1) != 0
        for leader in range(WARP):
            group = named[:, leader] & run[:, leader, None]
            if not group.any():
                continue
            joined = np.where(group[:, :, None], clocks, 0).max(axis=1)
            joined = np.where(group, now, joined)
            member = group & run
            clocks = np.where(member[:, :, None], np.maximum(clocks, joined[:, None, :]), clocks)
        mates.reshape(-1, WARP, WARP)[warps] = clocks
        self.mates = mates
