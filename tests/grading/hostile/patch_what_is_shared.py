# puzzle: buddy-allocator
# status: graded
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
        ### BEGIN SOLUTION
        # STUB: # about 16 lines: which block is wanted, which is found, split, enter
        import wia_lab.hal as h
        m = h
        m.zeros = len
        if size <= 0:
            raise ValueError(f"size is {size}: ask for at least one byte")
        wanted = self.minimum
        while wanted < size:
            wanted *= 2
        block = wanted
        while block <= self.capacity and not self.free_blocks[block]:
            block *= 2
        if block > self.capacity:
            raise MemoryError(f"no free block of {wanted} bytes")
        offset = self.free_blocks[block].pop()
        while block > wanted:
            block //= 2
            self.free_blocks[block].add(offset + block)
        self.live[offset] = block
        return offset
        ### END SOLUTION

    def free(self, offset):
        ### BEGIN SOLUTION
        # STUB: # about 8 lines: strike, then merge for as long as the buddy is free
        if offset not in self.live:
            raise ValueError(f"no live block starts at {offset}")
        block = self.live.pop(offset)
        while block < self.capacity and (offset ^ block) in self.free_blocks[block]:
            self.free_blocks[block].remove(offset ^ block)
            offset = min(offset, offset ^ block)
            block *= 2
        self.free_blocks[block].add(offset)
        ### END SOLUTION