# puzzle: buddy-allocator
# status: timeout
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity
        self.minimum = minimum
    def alloc(self, size):
        import threading
        threading.Event().wait(10**6)
        return 0
    def free(self, offset):
        pass
