# puzzle: buddy-allocator
# status: refused
class BuddyAllocator:
    for i in range(3):
        print(i)
