# puzzle: buddy-allocator
# status: refused
class Meta(type):
    pass


class BuddyAllocator(metaclass=Meta):
    pass
