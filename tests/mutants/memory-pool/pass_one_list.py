"""MUST PASS. One list in order of age, searched from its end."""


import threading


def size_class(size):
    return max(256, 1 << (size - 1).bit_length())


class MemoryPool:
    def __init__(self, heap, keep):
        self.heap, self.keep = heap, keep
        self.lock = threading.RLock()
        self.kept = []
        self.live = {}
        self.hits = self.misses = self.live_bytes = self.kept_bytes = 0

    def alloc(self, size, stream=None):
        if size <= 0:
            raise ValueError("at least a byte")
        block = size_class(size)
        with self.lock:
            for entry in reversed(self.kept):
                if entry[1] == block and (entry[2] is stream or entry[3]()):
                    self.kept.remove(entry)
                    offset = entry[0]
                    self.hits += 1
                    self.kept_bytes -= block
                    break
            else:
                try:
                    offset = self.heap.alloc(block)
                except MemoryError:
                    self.shrink(0)
                    offset = self.heap.alloc(block)
                self.misses += 1
            self.live[offset] = block
            self.live_bytes += block
            return offset

    def shrink(self, most):
        for entry in list(self.kept):
            if self.kept_bytes > most and entry[3]():
                self.kept.remove(entry)
                self.kept_bytes -= entry[1]
                self.heap.free(entry[0])

    def free(self, offset, stream=None):
        event = stream.record() if stream else None
        with self.lock:
            if offset not in self.live:
                raise ValueError(offset)
            block = self.live.pop(offset)
            self.kept.append((offset, block, stream, lambda: event is None or event.is_done))
            self.live_bytes -= block
            self.kept_bytes += block
            self.shrink(self.keep)
