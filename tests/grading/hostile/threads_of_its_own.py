# puzzle: buddy-allocator
# status: refused
class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.capacity = capacity

    def alloc(self, size):
        from threading import Thread
        threading.Thread(target=print).start()
        return 0

    def free(self, offset):
        pass
