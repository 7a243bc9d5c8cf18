"""Order by fences and atomics: what a thread has learnt of others.

What a thread did before a fence, and before a following atomic on x, is ordered before what another
thread does after its later atomic on x. A compare-and-swap that changed nothing publishes nothing.
A fence of the block's scope reaches threads of the block alone. Barriers and warp operations hand
on both what a thread has learnt and what its fences have made ready to publish: `threadfence` in
all threads, a barrier, then an atomic by one of them publishes for the whole block.

A thread's *knowledge* is a node of a graph, a number a lane. A node is turned into a table, the
moment up to which each other thread, warp and block is known, only when a conflict asks for it:
correct kernels ask rarely.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wia_lab.simt.events import Access, Chunk, Launch, Site
    from wia_lab.simt.hazards.order import Order
    from wia_lab.simt.memory import Space

WARP = 32
TABLES_KEPT = 128
Key = TypeVar("Key")
COMPARING = ("cas", "compare_and_swap")

Cell = tuple["Space", int]
"""A space and the byte offset of an atomic in it."""


@dataclass(slots=True)
class Table:
    """Moments up to which others are known."""

    threads: dict[int, int] = field(default_factory=dict)
    warps: dict[int, int] = field(default_factory=dict)
    blocks: dict[int, int] = field(default_factory=dict)
    atomics: dict[tuple[Cell, int], int] = field(default_factory=dict)

    def merge(self, other: Table) -> None:
        """Take over what `other` knows better."""
        _merge(self.threads, other.threads)
        _merge(self.warps, other.warps)
        _merge(self.blocks, other.blocks)
        _merge(self.atomics, other.atomics)

    def copy(self) -> Table:
        """A table of its own dictionaries."""
        return Table(
            self.threads.copy(), self.warps.copy(), self.blocks.copy(), self.atomics.copy()
        )


@dataclass(slots=True, eq=False)
class FenceRun:
    """One fence event: what each of its lanes could publish, as it stood then."""

    moment: int
    first: int
    stride: int
    barriers: np.ndarray
    syncs: np.ndarray
    mates: np.ndarray
    known: np.ndarray

    @property
    def newest(self) -> int:
        """The moment of the fence."""
        return self.moment

    def tell(self, lane: int, table: Table) -> Iterable[int]:
        """Add to `table` what `lane` knew of its own block; returns further nodes it knew."""
        thread, warp, block = self.first + lane, lane >> 5, lane // self.stride
        _raise_to(table.threads, thread, self.moment)
        _raise_to(table.warps, (self.first >> 5) + warp, int(self.syncs[warp]))
        _raise_to(table.blocks, self.first // self.stride + block, int(self.barriers[block]))
        if self.mates.size:
            base = thread - thread % WARP
            for place in np.flatnonzero(self.mates[lane]).tolist():
                _raise_to(table.threads, base + place, int(self.mates[lane, place]))
        return (int(self.known[lane]),)


@dataclass(slots=True, eq=False)
class Gathering:
    """What lanes that met at a barrier or warp operation had ready to publish."""

    lanes: np.ndarray
    releases: np.ndarray
    newest: int  # moment of the newest fence in it


@dataclass(slots=True, eq=False)
class Node:
    """A piece of knowledge: older ones joined, or a publication at an atomic's cell."""

    parents: tuple[int, ...]
    release: int = 0
    lane: int = 0
    chain: object = None  # the cell of a publication: a later one there holds all earlier ones
    atomic: tuple[tuple[Cell, int], int] | None = None
    table: Table | None = None


class Fences:
    """Follows fences, atomics and what they order."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.enabled = False

    @property
    def known(self) -> np.ndarray:
        """The number of the node that each lane knows."""
        return self.order.known

    def begin(self, launch: Launch) -> None:
        """A launch begins."""
        self.enabled = launch.has_fences
        self.plain_flag = False
        self._nodes: list[Node] = [Node(())]
        self._releases: list[FenceRun | Gathering | None] = [None]
        self._joined: dict[tuple[int, int], int] = {}
        self._heads: dict[object, int] = {}
        self._cells: dict[Space, set[int]] = {}
        self._tables: deque[Node] = deque()
        self._fenced: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def begin_chunk(self, chunk: Chunk) -> None:
        """A chunk begins: its threads know nothing."""
        if self.enabled:
            self.order.learnt(np.zeros(chunk.lanes, np.int32))
            self._wide = np.zeros(chunk.lanes, np.int32)  # ready to publish to all
            self._near = np.zeros(chunk.lanes, np.int32)  # ready to publish to the block
            self._stirred = np.zeros(chunk.blocks, bool)  # news since the block's last barrier
            self._fenced[self.order.first] = (
                np.zeros(chunk.lanes, np.int32),
                np.zeros(chunk.lanes, np.int32),
            )

    # Events

    def fence(self, site: Site, lanes: np.ndarray, scope: str) -> None:
        """Lanes executed a fence."""
        order = self.order
        moment = order.tick(site)
        self._releases.append(
            FenceRun(
                moment,
                order.first,
                order.stride,
                order.barriers,
                order.syncs,
                order.mates,
                self.known,
            )
        )
        self._near[lanes] = len(self._releases) - 1
        if scope != "block":
            self._wide[lanes] = len(self._releases) - 1
        self._stirred |= order.passing(lanes)
        first, last = self._fenced[order.first]
        first[lanes & (first == 0)] = moment
        last[lanes] = moment

    def atomic(self, access: Access, moment: int) -> None:
        """Lanes executed an atomic, in lane order: each learns, then publishes."""
        cells = self._cells.get(access.space)
        lanes = np.flatnonzero(access.active)
        concerned = (self._wide[lanes] | self._near[lanes]) != 0
        if cells:
            known_cells = np.fromiter(cells, np.int64, len(cells))
            concerned |= np.isin(access.offsets[lanes], known_cells)
        lanes = lanes[concerned]
        if not lanes.size:
            return
        self._stirred[lanes // self.order.stride] = True
        known = self.known.copy()
        may_fail = access.changed if access.operation in COMPARING else None
        for lane in lanes.tolist():
            cell = (access.space, int(access.offsets[lane]))
            block = (cell, self.order.first // self.order.stride + lane // self.order.stride)
            for chain in (cell, block):
                if chain in self._heads:
                    known[lane] = self._join(int(known[lane]), self._heads[chain])
            if may_fail is None or may_fail[lane]:
                self._publish(cell, block, lane, moment)
        self.order.learnt(known)

    def _publish(self, cell: Cell, block: object, lane: int, moment: int) -> None:
        wide, near = int(self._wide[lane]), int(self._near[lane])
        thread = self.order.first + lane
        for chain, release in ((cell, wide), (block, near if near != wide else 0)):
            if release:
                before = self._heads.get(chain, 0)
                self._nodes.append(Node((before,), release, lane, chain, ((cell, thread), moment)))
                self._heads[chain] = len(self._nodes) - 1
                self._cells.setdefault(cell[0], set()).add(cell[1])

    def barrier(self, blocks: np.ndarray, before: np.ndarray) -> None:
        """Blocks met; `before` has each block's barrier before this one."""
        stride = self.order.stride
        news = blocks & self._stirred
        self._stirred &= ~blocks
        for block in np.flatnonzero(news).tolist():
            lanes = np.arange(block * stride, (block + 1) * stride)
            self._meet(lanes, int(before[block]))

    def warp_sync(self, lanes: np.ndarray, members: np.ndarray) -> None:
        """Members of each mask met."""
        eager = lanes & ((self.known | self._near) != 0)
        if not eager.any():
            return
        masks = np.broadcast_to(np.asarray(members), lanes.shape)
        for warp in np.flatnonzero(eager.reshape(-1, WARP).any(axis=1)).tolist():
            place = np.arange(warp * WARP, (warp + 1) * WARP)
            for mask in np.unique(masks[place][lanes[place]]).tolist():
                named = (int(mask) >> np.arange(WARP)) & 1 != 0
                self._meet(place[named], 0)

    def _meet(self, lanes: np.ndarray, before: int) -> None:
        """Lanes that met know the same, and have the same ready to publish."""
        known = np.unique(self.known[lanes])
        if known.size > 1:
            joined = 0
            for node in known.tolist():
                joined = self._join(joined, node)
            changed = self.known.copy()
            changed[lanes] = joined
            self.order.learnt(changed)
        for ready in (self._wide, self._near):
            held = np.unique(ready[lanes])
            if held[-1] and (held.size > 1 or isinstance(self._releases[held[0]], FenceRun)):
                ready[lanes] = self._gather(lanes, ready[lanes], before)

    def _gather(self, lanes: np.ndarray, releases: np.ndarray, before: int) -> int:
        """One release for all that lanes had ready.

        Lanes hold different ones only where some have fenced since the last barrier, and such a
        fence covers all that was ready at that barrier.
        """
        chosen = releases != 0
        newest = {each: self._newest(each) for each in np.unique(releases[chosen]).tolist()}
        chosen &= np.array([newest.get(each, 0) > before for each in releases.tolist()])
        kept, ids = lanes[chosen], releases[chosen]
        gathered = np.array([isinstance(self._releases[each], Gathering) for each in ids.tolist()])
        _, once = np.unique(np.where(gathered, ids, -1 - np.arange(ids.size)), return_index=True)
        self._releases.append(Gathering(kept[once], ids[once], max(newest.values())))
        return len(self._releases) - 1

    def _newest(self, release: int) -> int:
        held = self._releases[release]
        return held.newest if held is not None else 0

    # Knowledge

    def _join(self, one: int, other: int) -> int:
        if one in (0, other):
            return other
        if other == 0:
            return one
        key = (one, other)
        if key not in self._joined:
            self._joined[key] = self._new_join(one, other)
        return self._joined[key]

    def _new_join(self, one: int, other: int) -> int:
        first, chain = self._nodes[one], self._nodes[other].chain
        if chain is not None and first.chain == chain:
            return max(one, other)  # publications at one cell: the later holds the earlier
        kept = tuple(
            parent
            for parent in (first.parents if first.chain is None else (one,))
            if chain is None or self._nodes[parent].chain != chain or parent > other
        )
        if other in kept:
            return one
        self._nodes.append(Node((*kept, other)))
        return len(self._nodes) - 1

    def ordered(self, node: int, thread: int, moment: int, cell: Cell, *, is_atomic: bool) -> bool:
        """Whether one who knows `node` is ordered after what `thread` did at `moment`."""
        table = self._table(node)
        return (
            table.threads.get(thread, 0) > moment
            or table.blocks.get(thread // self.order.stride, 0) > moment
            or table.warps.get(thread >> 5, 0) > moment
            or (is_atomic and table.atomics.get((cell, thread), 0) >= moment)
        )

    def _table(self, node: int) -> Table:
        top = self._nodes[node]
        if top.table is None:
            top.table = self._make_table(node)
            self._tables.append(top)
            if len(self._tables) > TABLES_KEPT:
                self._tables.popleft().table = None
        return top.table

    def _make_table(self, node: int) -> Table:
        found = Table()
        bases: list[Table] = []
        told: set[tuple[int, int]] = set()
        seen = {0}
        stack = [node]
        while stack:
            number = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            each = self._nodes[number]
            if each.table is not None:
                bases.append(each.table)
                continue
            stack.extend(each.parents)
            if each.atomic is not None:
                key, moment = each.atomic
                found.atomics[key] = max(moment, found.atomics.get(key, 0))
            if each.release:
                self._tell(each.release, each.lane, found, stack, told)
        if not bases:
            return found
        bases.sort(key=lambda base: len(base.threads) + len(base.blocks))
        result = bases[-1].copy()
        for base in (*bases[:-1], found):
            result.merge(base)
        return result

    def _tell(
        self, release: int, lane: int, table: Table, stack: list[int], told: set[tuple[int, int]]
    ) -> None:
        """Add what a release publishes to `table`, and the nodes it knew to `stack`."""
        waiting = [(release, lane)]
        while waiting:
            number, of = waiting.pop()
            held = self._releases[number]
            key = (number, -1 if isinstance(held, Gathering) else of)
            if key in told:
                continue
            told.add(key)
            if isinstance(held, Gathering):
                waiting.extend(zip(held.releases.tolist(), held.lanes.tolist(), strict=True))
            elif held is not None:
                stack.extend(held.tell(of, table))

    # Flags set by hand

    def fenced_before(self, thread: int, moment: int) -> bool:
        """Whether a thread had executed a fence before `moment`."""
        return 0 < self._fence_moments(thread)[0] < moment

    def followed_badly(self, thread: int, moment: int) -> bool:
        """Whether a flag set with a plain store may publish what a thread did at `moment`."""
        return self.plain_flag and self._fence_moments(thread)[1] > moment

    def _fence_moments(self, thread: int) -> tuple[int, int]:
        for start, (first, last) in self._fenced.items():
            if start <= thread < start + first.size:
                return int(first[thread - start]), int(last[thread - start])
        return 0, 0


def _merge(mine: dict[Key, int], theirs: dict[Key, int]) -> None:
    for key, moment in theirs.items():
        if moment > mine.get(key, 0):
            mine[key] = moment


def _raise_to(table: dict[int, int], key: int, moment: int) -> None:
    if moment > table.get(key, 0):
        table[key] = moment
