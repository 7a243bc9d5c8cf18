# puzzle: buddy-allocator
# status: any
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        x = []
        for _ in range(5000):
            x = [x]
        return x

    def free(self, offset):
        pass
