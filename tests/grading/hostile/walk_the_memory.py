# puzzle: buddy-allocator
# status: refused
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        import gc
        return len(gc.get_objects())

    def free(self, offset):
        pass
