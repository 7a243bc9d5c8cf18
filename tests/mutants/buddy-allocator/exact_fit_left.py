"""MUST GET: wrong-choice, cause larger-split. Leaves a block that fits just, and splits the next."""


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
        block = wanted
        while block <= self.capacity and not self.free_blocks[block]:
            block *= 2
        if block > self.capacity:
            raise MemoryError(f"no block of {wanted} B")
        if block == wanted and self.free_blocks.get(2 * wanted):
            block = 2 * wanted
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
