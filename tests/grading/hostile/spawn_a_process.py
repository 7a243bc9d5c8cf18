# puzzle: buddy-allocator
# status: refused
import subprocess


class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        return 0

    def free(self, offset):
        pass
