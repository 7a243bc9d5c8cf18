# puzzle: buddy-allocator
# status: any
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        while True:
            pass

    def free(self, offset):
        pass
