# puzzle: buddy-allocator
# status: crashed
class E(Exception):
    def __str__(self):
        raise KeyError('x')
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity
        self.minimum = minimum
    def alloc(self, size):
        raise E()
    def free(self, offset):
        pass
