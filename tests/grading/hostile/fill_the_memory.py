# puzzle: buddy-allocator
# status: any
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        self.x = [0]
        try:
            while True:
                self.x = self.x + self.x
        except MemoryError:
            return 0

    def free(self, offset):
        pass
