# puzzle: buddy-allocator
# status: refused
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        import sys
        sys.settrace(None)
        return 0

    def free(self, offset):
        pass
