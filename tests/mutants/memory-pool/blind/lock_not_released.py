"""MUST GET: no-progress, cause deadlock.

The lock is taken by hand and stays locked when an unknown offset raises.
"""

import threading


def size_class(size):
    return max(256, 1 << (size - 1).bit_length())


class MemoryPool:
    """Keep at most `keep` bytes of freed blocks of `heap` for reuse."""

    def __init__(self, heap, keep):
        self.heap, self.keep = heap, keep
        self.lock = threading.Lock()
        self.kept = {}  # class -> [(age, offset, stream, event), ...], least recently freed first
        self.live = {}  # bytes of each live block's class, by its offset
        self.age = 0  # counts frees
        self.hits = self.misses = self.live_bytes = self.kept_bytes = 0

    def alloc(self, size, stream=None):
        if size < 1:
            raise ValueError(f"size {size}: at least 1")
        block = size_class(size)
        with self.lock:
            offset = None
            shelf = self.kept.get(block, [])
            for place, (_, where, last, event) in enumerate(shelf):
                if event is None or (stream is not None and last is stream) or event.is_done:
                    offset = where
                    del shelf[place]
                    self.kept_bytes -= block
                    self.hits += 1
                    break
            if offset is None:
                offset = self.from_heap(block)
                self.misses += 1
            self.live[offset] = block
            self.live_bytes += block
            return offset

    def from_heap(self, block):
        """Ask the heap; when it has no room, give back what is idle and ask once more."""
        try:
            return self.heap.alloc(block)
        except MemoryError:
            while self.give_back():
                pass
            return self.heap.alloc(block)

    def give_back(self):
        """Give the least recently freed idle block back to the heap; False when none is idle."""
        oldest = None
        for block, shelf in self.kept.items():
            for entry in shelf:
                idle = entry[3] is None or entry[3].is_done
                if idle and (oldest is None or entry[0] < oldest[1][0]):
                    oldest = (block, entry)
        if oldest is None:
            return False
        block, entry = oldest
        self.kept[block].remove(entry)
        self.kept_bytes -= block
        self.heap.free(entry[1])
        return True

    def free(self, offset, stream=None):
        self.lock.acquire()
        if offset not in self.live:
            raise ValueError(f"no live block at {offset}")
        block = self.live.pop(offset)
        self.live_bytes -= block
        event = stream.record() if stream is not None else None
        self.age += 1
        self.kept.setdefault(block, []).append((self.age, offset, stream, event))
        self.kept_bytes += block
        while self.kept_bytes > self.keep and self.give_back():
            pass
        self.lock.release()
