# puzzle: buddy-allocator
# status: refused
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        raise SystemExit

    def free(self, offset):
        pass
