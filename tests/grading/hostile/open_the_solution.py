# puzzle: buddy-allocator
# status: refused
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        return int(open("solutions/18-buddy-allocator.ipynb").read())

    def free(self, offset):
        pass
