# puzzle: buddy-allocator
# status: timeout
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity
        self.minimum = minimum
    def alloc(self, size):
        return sum(range(10**13))
    def free(self, offset):
        pass
