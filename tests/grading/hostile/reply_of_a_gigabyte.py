# puzzle: buddy-allocator
# status: any
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        return "x" * 400000000

    def free(self, offset):
        pass
