"""Where is a hole that fits? Indexes over holes whose cost does not grow with their number.

Two structures, both a few levels deep however many holes there are:

`SizeIndex` answers "the smallest hole of at least n bytes" (best fit) and "a hole of exactly
n bytes". `AddressIndex` answers "the hole lowest in memory of at least n bytes" (first fit).
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

__all__ = ["AddressIndex", "Hole", "SizeIndex", "SortedNumbers", "strike"]


class Hole(Protocol):
    """What an index needs to know of a hole: where it starts and how long it is, in bytes."""

    offset: int
    size: int


HoleT = TypeVar("HoleT", bound=Hole)

KeyT = TypeVar("KeyT")


def strike(stack: dict[KeyT, None], key: KeyT) -> None:
    """Delete `key` from a dictionary whose last key is often asked for.

    `del` leaves a gap that a later `next(reversed(…))` must step over, so a million of them from
    the end cost a million steps each; `popitem` closes the gap.
    """
    if next(reversed(stack)) is key:
        stack.popitem()
    else:
        del stack[key]


FAN_BITS = 10  # a node of the tree is one integer of 1,024 bits
LAST = (1 << FAN_BITS) - 1


class SortedNumbers:
    """A set of non-negative integers that finds neighbours: a tree of bitmaps.

    Level 0 has a bit for each number, level k a bit for each non-empty bitmap of level k - 1.
    Three levels hold numbers up to 2^30; the tree grows a level when it meets a larger one.
    """

    def __init__(self) -> None:
        self._bottom: dict[int, int] = {}
        self._levels = [self._bottom]

    def __bool__(self) -> bool:
        return bool(self._levels[0])

    def add(self, number: int) -> None:
        """Put `number` in; it may be there already."""
        node = number >> FAN_BITS
        bits = self._bottom.get(node, 0)
        self._bottom[node] = bits | 1 << (number & LAST)
        if not bits:
            self._enter(node)

    def _enter(self, number: int) -> None:
        """Let the levels above the lowest know that a node of it has become non-empty."""
        while number >> (FAN_BITS * (len(self._levels) - 1)):
            top = self._levels[-1]
            self._levels.append({})
            for node in top:
                self._set_bit(len(self._levels) - 1, node)
        for level in range(1, len(self._levels)):
            if self._set_bit(level, number):
                return  # the levels above know this node
            number >>= FAN_BITS

    def _set_bit(self, level: int, number: int) -> bool:
        """Set a bit of one level; tell whether its node had any bit before."""
        node, bit = number >> FAN_BITS, 1 << (number & LAST)
        bits = self._levels[level].get(node, 0)
        self._levels[level][node] = bits | bit
        return bits != 0

    def discard(self, number: int) -> None:
        """Take `number` out; it must be there."""
        for level in self._levels:
            node = number >> FAN_BITS
            bits = level[node] ^ (1 << (number & LAST))
            if bits:
                level[node] = bits
                return
            del level[node]
            number = node

    def at_least(self, number: int) -> int | None:
        """Return the smallest member that is not below `number`."""
        for depth, level in enumerate(self._levels):
            node, start = number >> FAN_BITS, number & LAST
            above = level.get(node, 0) >> start
            if above:
                found = number + (above & -above).bit_length() - 1
                return self._lowest(found, depth)
            number = node + 1
        return None

    def _lowest(self, number: int, depth: int) -> int:
        """Return the smallest member below bit `number` of level `depth`."""
        for level in reversed(self._levels[:depth]):
            bits = level[number]
            number = (number << FAN_BITS) + (bits & -bits).bit_length() - 1
        return number

    def largest(self) -> int | None:
        """Return the largest member."""
        if not self._levels[0]:
            return None
        number = max(self._levels[-1])
        for level in reversed(self._levels):
            number = (number << FAN_BITS) + level[number].bit_length() - 1
        return number


class SizeIndex(Generic[HoleT]):
    """Holes by size. Sizes are multiples of `granule`; each call costs a few look-ups.

    A size whose last hole has gone stays on the list until a search meets it: programs ask for
    the same sizes again and again.
    """

    def __init__(self, granule: int) -> None:
        self.granule = granule
        self._by_size: dict[int, dict[HoleT, None]] = {}
        self._sizes = SortedNumbers()

    def add(self, hole: HoleT) -> None:
        """Enter `hole` under its present size."""
        same = self._by_size.get(hole.size)
        if same is None:
            self._by_size[hole.size] = {hole: None}
            self._sizes.add(hole.size // self.granule)
        else:
            same[hole] = None

    def remove(self, hole: HoleT) -> None:
        """Take `hole` out; its size must be what it was when it was added."""
        same = self._by_size[hole.size]
        if len(same) == 1:
            same.clear()
        else:
            strike(same, hole)

    def exact(self, size: int) -> HoleT | None:
        """Return the hole of exactly `size` bytes that was added last."""
        same = self._by_size.get(size)
        return next(reversed(same)) if same else None

    def find(self, size: int) -> HoleT | None:
        """Return a smallest hole of at least `size` bytes."""
        if same := self._by_size.get(size):
            return next(reversed(same))
        units = -(-size // self.granule)
        while (found := self._sizes.at_least(units)) is not None:
            if same := self._by_size[found * self.granule]:
                return next(reversed(same))
            self._forget(found)
        return None

    def largest(self) -> int:
        """Return the bytes of the largest hole, 0 when there is none."""
        while (found := self._sizes.largest()) is not None:
            if self._by_size[found * self.granule]:
                return found * self.granule
            self._forget(found)
        return 0

    def _forget(self, units: int) -> None:
        """Take a size of which there is no hole off the list."""
        self._sizes.discard(units)
        del self._by_size[units * self.granule]


class AddressIndex(Generic[HoleT]):
    """Holes by address: a tree over `capacity` bytes whose nodes know their largest hole.

    A hole belongs to the leaf in which it starts, and no two holes start in one granule. The
    tree's depth is the logarithm of the capacity, not of the number of holes.
    """

    def __init__(self, granule: int, capacity: int) -> None:
        self.granule = granule
        self._depth = max(1, (-(-capacity // granule) - 1).bit_length())
        # _largest[k][n] is the largest hole that starts in node n, 2^k granules wide
        self._largest: list[dict[int, int]] = [{} for _ in range(self._depth + 1)]
        self._holes: dict[int, HoleT] = {}

    def add(self, hole: HoleT) -> None:
        """Enter `hole` under its present offset and size."""
        node, size = hole.offset // self.granule, hole.size
        self._holes[node] = hole
        for level in self._largest:
            if level.get(node, 0) >= size:
                return
            level[node] = size
            node >>= 1

    def remove(self, hole: HoleT) -> None:
        """Take `hole` out; offset and size must be what they were when it was added."""
        node = hole.offset // self.granule
        del self._holes[node]
        del self._largest[0][node]
        for below, level in zip(self._largest, self._largest[1:], strict=False):
            node >>= 1
            left, right = below.get(2 * node, 0), below.get(2 * node + 1, 0)
            size = max(left, right)
            if level[node] == size:
                return
            if size:
                level[node] = size
            else:
                del level[node]

    def exact(self, size: int) -> HoleT | None:
        """Return no hole: first fit does not prefer one of exactly `size` bytes."""
        del size
        return None

    def find(self, size: int) -> HoleT | None:
        """Return the hole lowest in memory that has at least `size` bytes."""
        if self.largest() < size:
            return None
        node = 0
        for level in reversed(self._largest[:-1]):
            node *= 2
            if level.get(node, 0) < size:
                node += 1
        return self._holes[node]

    def largest(self) -> int:
        """Return the bytes of the largest hole, 0 when there is none."""
        return self._largest[-1].get(0, 0)
