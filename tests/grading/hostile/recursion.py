# puzzle: buddy-allocator
# status: any
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        return self.alloc(size)

    def free(self, offset):
        pass
