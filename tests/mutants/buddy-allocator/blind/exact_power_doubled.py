"""MUST GET: refused, cause loose-split.

A size that is a power of two already gets the next larger block.
"""


class BuddyAllocator:
    """Blocks of a power of two, from `minimum` bytes to the whole `capacity`."""

    def __init__(self, capacity, minimum):
        self.capacity, self.minimum = capacity, minimum
        self.free_blocks = {}
        block = minimum
        while block <= capacity:
            self.free_blocks[block] = set()
            block *= 2
        self.free_blocks[capacity].add(0)
        self.live = {}  # bytes of each live block, by its offset

    def alloc(self, size):
        if size < 1:
            raise ValueError(f"size {size}: at least 1")
        wanted = max(self.minimum, 1 << size.bit_length())
        block = wanted
        while block <= self.capacity and not self.free_blocks[block]:
            block *= 2
        if block > self.capacity:
            raise MemoryError(f"no block of {wanted} bytes")
        offset = min(self.free_blocks[block])
        self.free_blocks[block].remove(offset)
        while block > wanted:
            block //= 2
            self.free_blocks[block].add(offset + block)
        self.live[offset] = wanted
        return offset

    def free(self, offset):
        if offset not in self.live:
            raise ValueError(f"no live block at {offset}")
        block = self.live.pop(offset)
        while block < self.capacity:
            buddy = offset ^ block
            if buddy not in self.free_blocks[block]:
                break
            self.free_blocks[block].remove(buddy)
            offset = min(offset, buddy)
            block *= 2
        self.free_blocks[block].add(offset)
