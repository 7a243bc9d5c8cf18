# puzzle: buddy-allocator
# status: refused
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        from wia_lab.memory import Buddy
        return 0

    def free(self, offset):
        pass
