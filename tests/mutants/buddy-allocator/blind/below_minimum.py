"""MUST GET: crash, line 27, cause crash.

A small size is rounded to a power of two below the minimum, for which there are no blocks.
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
        wanted = 1
        while wanted < size:
            wanted *= 2
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
