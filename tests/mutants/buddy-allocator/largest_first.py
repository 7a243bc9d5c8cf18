"""MUST GET: wrong-choice, cause larger-split. Searches from the largest block down."""


class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity, self.minimum = capacity, minimum
        self.free_blocks = {}
        block = minimum
        while block <= capacity:
            self.free_blocks[block] = set()
            block *= 2
        self.free_blocks[capacity].add(0)
        self.live = {}

    def alloc(self, size):
        if size <= 0:
            raise ValueError(f"size is {size}")
        wanted = self.minimum
        while wanted < size:
            wanted *= 2
        block = self.capacity
        while block >= wanted and not self.free_blocks[block]:
            block //= 2
        if block < wanted:
            raise MemoryError(f"no block of {wanted} B")
        offset = min(self.free_blocks[block])
        self.free_blocks[block].remove(offset)
        while block > wanted:
            block //= 2
            self.free_blocks[block].add(offset + block)
        self.live[offset] = block
        return offset

    def free(self, offset):
        if offset not in self.live:
            raise ValueError(f"no live block at {offset}")
        block = self.live.pop(offset)
        while block < self.capacity and offset ^ block in self.free_blocks[block]:
            self.free_blocks[block].remove(offset ^ block)
            offset = min(offset, offset ^ block)
            block *= 2
        self.free_blocks[block].add(offset)
