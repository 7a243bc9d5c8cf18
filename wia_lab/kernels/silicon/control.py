"""Loops and branches that part the lanes of a warp: break, continue, else, early return."""

from __future__ import annotations

from wia_lab import cuda
from wia_lab.kernels.silicon.case import Topic, shuffled, zeros

CASES = Topic()


def values(size: int, bound: int, seed: int = 6):
    """Random integers below `bound`."""
    return shuffled(size, bound, seed)


@CASES.case("while-continue", 1, 64, zeros(64, dtype="int32"), values(256, 8))
def while_continue(o, a):
    t = cuda.threadIdx.x
    total, i = 0, t
    while i < a.size:
        j = i
        i += 64
        if (t + j // 64) % 3 == 0:
            continue
        total += a[j]
    o[t] = total


@CASES.case("for-continue", 1, 64, zeros(64, dtype="int32"), values(512, 8))
def for_continue(o, a):
    t = cuda.threadIdx.x
    total = 0
    for j in range(t, a.size, 64):
        if (t ^ j // 64) & 1:
            continue
        total += a[j]
    o[t] = total


@CASES.case("while-break", 2, 64, zeros(128, dtype="int32"), values(4096, 16))
def while_break(o, a):
    t = cuda.grid(1)
    i = t * 32
    while i < t * 32 + 32:
        if a[i] == 3:
            break
        i += 1
    o[t] = i


@CASES.case("for-else", 2, 64, zeros(128, dtype="int32"), values(128 * 20, 24))
def for_else(o, a):
    t = cuda.grid(1)
    for i in range(20):
        if a[t + 128 * i] == 5:
            o[t] = i
            break
    else:
        o[t] = -1


@CASES.case("while-else", 2, 64, zeros(128, dtype="int32"), values(128 * 12, 12), values(128, 50))
def while_else(o, a, b):
    t = cuda.grid(1)
    i = 0
    while i < 12:
        if a[t + 128 * i] == t % 12:
            break
        i += 1
    else:
        i = -b[t]
    o[t] = i


@CASES.case("nested-break-continue", 1, 64, zeros(64, dtype="int32"), values(1024, 8))
def nested_break_continue(o, a):
    t = cuda.threadIdx.x
    total = 0
    for i in range(4):
        for j in range(4):
            if (t + i + j) % 5 == 4:
                break
            if (t + j) % 3 == 1:
                continue
            total += a[t + 64 * (4 * i + j)]
    o[t] = total


@CASES.case("early-return", 5, 64, zeros(300, dtype="int32"), values(300, 4), values(300, 100))
def early_return(o, kind, a):
    i = cuda.grid(1)
    if i >= o.size:
        return
    k = kind[i]
    if k == 0:
        return
    if k == 1:
        o[i] = a[i]
        return
    o[i] = a[o.size - 1 - i]


@CASES.case("return-in-loop", 2, 64, zeros(128, dtype="int32"), values(128 * 16, 10))
def return_in_loop(o, a):
    t = cuda.grid(1)
    for i in range(16):
        if a[t + 128 * i] == 7:
            o[t] = i
            return
    o[t] = 99


@CASES.case(
    "ladder", 4, 64, zeros(256, dtype="int32"), values(256, 5), values(256, 100), values(256, 90)
)
def ladder(o, kind, a, b):
    i = cuda.grid(1)
    k = kind[i]
    if k == 0:
        o[i] = a[i]
    elif k == 1:
        o[i] = b[255 - i]
    elif k == 2:
        o[i] = a[(i * 7) % 256]
    else:
        o[i] = b[(i * 3) % 256]


@CASES.case(
    "uneven-trip-counts", 2, 96, zeros(192, dtype="int32"), values(192, 12), values(192 * 13, 50)
)
def uneven_trip_counts(o, count, a):
    t = cuda.grid(1)
    total, left = 0, count[t]
    while left > 0:
        value = a[192 * left + t]
        total += value
        left -= 1 + value % 2
    o[t] = total


@CASES.case(
    "short-circuit",
    4,
    64,
    zeros(256, dtype="int32"),
    values(256, 3),
    values(256, 3),
    values(256, 3),
)
def short_circuit(o, a, b, c):
    i = cuda.grid(1)
    if (a[i] == 0 and b[i] == 0) or c[i] == 0:
        o[i] = 1


@CASES.case(
    "nested-loops-uneven", 1, 64, zeros(64, dtype="int32"), values(64, 5), values(64 * 25, 9)
)
def nested_loops_uneven(o, count, a):
    t = cuda.threadIdx.x
    total = 0
    for i in range(count[t]):
        for j in range(i + 1):
            total += a[64 * (5 * i + j) + t]
    o[t] = total


@CASES.case("barrier-between-branches", 2, 96, zeros(192, dtype="int32"), values(192, 7))
def barrier_between_branches(o, a):
    i = cuda.grid(1)
    value, key = 0, a[i]
    if key > 2:
        value = a[191 - i]
    cuda.syncthreads()
    if key < 5:
        value += a[(i * 5) % 192]
    o[i] = value


@CASES.case("device-function-return", 2, 96, zeros(192, dtype="int32"), values(192, 40))
def calls_first_divisor(o, a):
    i = cuda.grid(1)
    o[i] = first_divisor(a, i)


@cuda.jit(device=True)
def first_divisor(a, i):
    """The smallest divisor above 1 of a[i], found by trial, with a load a trial."""
    candidate = 2
    while candidate < 7:
        if a[(i + candidate) % 192] % candidate == 0:
            return candidate
        candidate += 1
    return 0


@CASES.case("masked-accumulate", 2, 96, zeros(192, dtype="int32"), values(192 * 8, 9))
def masked_accumulate(o, a):
    i = cuda.grid(1)
    total = 0
    for k in range(8):
        value = a[192 * k + i]
        if value > 6:
            break
        if value % 2:
            continue
        total += a[192 * (7 - k) + (i * 7) % 192]
    else:
        total = -total
    o[i] = total
