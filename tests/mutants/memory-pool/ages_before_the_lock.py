"""MUST GET: race, line 64, cause no-lock. Counts the ages before it has the lock."""

import threading


def size_class(size):
    return max(256, 1 << (size - 1).bit_length())


class MemoryPool:
    def __init__(self, heap, keep):
        self.heap, self.keep = heap, keep
        self.lock = threading.Lock()
        self.kept = {}
        self.live = {}
        self.age = 0
        self.hits = self.misses = self.live_bytes = self.kept_bytes = 0

    def alloc(self, size, stream=None):
        if size <= 0:
            raise ValueError(f"size is {size}")
        block = size_class(size)
        with self.lock:
            shelf = self.kept.setdefault(block, [])
            for i in reversed(range(len(shelf))):
                age, offset, last, event = shelf[i]
                if event is None or last is stream or event.is_done:
                    del shelf[i]
                    self.kept_bytes -= block
                    self.hits += 1
                    break
            else:
                offset = self.from_heap(block)
                self.misses += 1
            self.live[offset] = block
            self.live_bytes += block
        return offset

    def from_heap(self, block):
        try:
            return self.heap.alloc(block)
        except MemoryError:
            while self.give_back():
                pass
            return self.heap.alloc(block)

    def give_back(self):
        idle = [
            (entry[0], block, i)
            for block, shelf in self.kept.items()
            for i, entry in enumerate(shelf)
            if entry[3] is None or entry[3].is_done
        ]
        if not idle:
            return False
        _, block, i = min(idle)
        _, offset, _, _ = self.kept[block].pop(i)
        self.kept_bytes -= block
        self.heap.free(offset)
        return True

    def free(self, offset, stream=None):
        event = None if stream is None else stream.record()
        self.age += 1
        with self.lock:
            if offset not in self.live:
                raise ValueError(f"no live block at {offset}")
            block = self.live.pop(offset)
            self.live_bytes -= block
            self.kept.setdefault(block, []).append((self.age, offset, stream, event))
            self.kept_bytes += block
            while self.kept_bytes > self.keep and self.give_back():
                pass
