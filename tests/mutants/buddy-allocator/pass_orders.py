"""MUST PASS. Works with orders and lists, and recursion."""


class BuddyAllocator:
    def __init__(self, capacity, minimum):
        self.minimum = minimum
        self.top = (capacity // minimum).bit_length() - 1
        self.lists = [[] for _ in range(self.top + 1)]
        self.lists[self.top].append(0)
        self.orders = {}

    def _take(self, order):
        if order > self.top:
            raise MemoryError("no block is large enough")
        if self.lists[order]:
            return self.lists[order].pop()
        offset = self._take(order + 1)
        self.lists[order].append(offset + (self.minimum << order))
        return offset

    def alloc(self, size):
        if size < 1:
            raise ValueError("ask for at least a byte")
        order = (-(-size // self.minimum) - 1).bit_length()
        offset = self._take(order)
        self.orders[offset] = order
        return offset

    def _give(self, offset, order):
        buddy = offset ^ (self.minimum << order)
        if order < self.top and buddy in self.lists[order]:
            self.lists[order].remove(buddy)
            self._give(min(offset, buddy), order + 1)
        else:
            self.lists[order].append(offset)

    def free(self, offset):
        if offset not in self.orders:
            raise ValueError(f"nothing is live at {offset}")
        self._give(offset, self.orders.pop(offset))
