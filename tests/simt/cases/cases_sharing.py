"""Threads that share memory: barriers, races, atomics, warps, grids."""

from __future__ import annotations

import numpy as np
from casebook import Case, register

from wia_lab import cuda

CASES: list[Case] = []
case = register(CASES)

FULL = 0xFFFFFFFF
WIDTH = 64
SMALL = 8


@case()
def matmul_with_too_few_rounds():
    """As many rounds as blocks in x: half of the sum, and no hazard."""

    @cuda.jit
    def kernel(a, b, c):
        left = cuda.shared.array((SMALL, SMALL), np.float32)
        right = cuda.shared.array((SMALL, SMALL), np.float32)
        x, y = cuda.grid(2)
        i, j = cuda.threadIdx.x, cuda.threadIdx.y
        total = np.float32(0)
        for k in range(cuda.gridDim.x):
            left[i, j] = a[x, j + k * SMALL]
            right[i, j] = b[i + k * SMALL, y]
            cuda.syncthreads()
            for m in range(SMALL):
                total += left[i, m] * right[m, j]
            cuda.syncthreads()
        c[x, y] = total

    a, b = np.ones((8, 16), np.float32), np.ones((16, 8), np.float32)
    c = np.zeros((8, 8), np.float32)
    kernel[(1, 1), (8, 8)](a, b, c)
    return [(c, np.full((8, 8), 8))]


@case(race="error")
def increment_of_a_shared_cell():
    @cuda.jit
    def kernel(out):
        cell = cuda.shared.array(1, np.int32)
        if cuda.threadIdx.x == 0:
            cell[0] = 0
        cuda.syncthreads()
        cell[0] += 1
        cuda.syncthreads()
        out[cuda.threadIdx.x] = cell[0]

    kernel[1, 4](np.zeros(4, np.int32))


@case()
def atomic_increment():
    @cuda.jit
    def kernel(out):
        cell = cuda.shared.array(1, np.int32)
        if cuda.threadIdx.x == 0:
            cell[0] = 0
        cuda.syncthreads()
        cuda.atomic.add(cell, 0, 3)
        cuda.syncthreads()
        out[cuda.threadIdx.x] = cell[0]

    out = np.zeros(4, np.int32)
    kernel[1, 4](out)
    return [(out, [12] * 4)]


@case(race="error")
def mirrored_without_a_barrier():
    @cuda.jit
    def kernel(a):
        tile = cuda.shared.array(WIDTH, np.float32)
        t = cuda.threadIdx.x
        tile[t] = a[t]
        a[t] = tile[WIDTH - 1 - t]

    kernel[1, WIDTH](np.arange(WIDTH, dtype=np.float32))


@case(divergent_barrier="error")
def barrier_for_half_the_threads():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 20:
            cuda.syncthreads()
        out[t] = t

    out = np.zeros(40, np.int32)
    kernel[1, 40](out)
    return [(out, np.arange(40))]


@case(divergent_barrier="error")
def a_barrier_in_each_branch():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t % 3 == 0:
            out[t] = 3
            cuda.syncthreads()
        else:
            out[t] = 1
            cuda.syncthreads()

    out = np.zeros(33, np.int32)
    kernel[1, 33](out)
    return [(out.sum(), 55)]


@case(divergent_barrier="warning")
def continue_before_a_voting_barrier():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        more = True
        while cuda.syncthreads_or(int(more)):
            more = False
            out[t] += 2
            if t == 1:
                continue
            out[t] += 5

    out = np.zeros(6, np.int32)
    kernel[1, 6](out)
    return [(out, [7, 2, 7, 7, 7, 7])]


@case(divergent_barrier="warning")
def early_return_before_a_barrier():
    @cuda.jit
    def kernel(out, a):
        tile = cuda.shared.array(32, np.int32)
        t = cuda.threadIdx.x
        if t >= a.size:
            return
        tile[t] = a[t]
        cuda.syncthreads()
        out[t] = tile[a.size - 1 - t]

    a, out = np.arange(24, dtype=np.int32), np.zeros(24, np.int32)
    kernel[1, 32](out, a)
    return [(out, a[::-1])]


@case()
def atomic_add_gives_the_old_value():
    @cuda.jit
    def kernel(places, counter):
        places[cuda.grid(1)] = cuda.atomic.add(counter, 0, 1)

    places, counter = np.zeros(48, np.int32), np.zeros(1, np.int32)
    kernel[3, 16](places, counter)
    return [(np.sort(places), np.arange(48)), (counter, [48])]


@case(race="error")
def histogram_without_atomics():
    @cuda.jit
    def kernel(bins, a):
        i = cuda.grid(1)
        if i < a.size:
            bins[a[i]] += 1

    kernel[2, 32](np.zeros(5, np.int32), np.arange(60) % 5)


@case()
def histogram_with_atomics():
    @cuda.jit
    def kernel(bins, a):
        i = cuda.grid(1)
        if i < a.size:
            cuda.atomic.add(bins, a[i], 1)

    bins = np.zeros(5, np.int32)
    kernel[2, 32](bins, np.arange(60) % 5)
    return [(bins, [12] * 5)]


@case(race="error")
def reduction_without_the_barrier_in_the_loop():
    @cuda.jit
    def kernel(out, a):
        part = cuda.shared.array(WIDTH, np.int32)
        t = cuda.threadIdx.x
        part[t] = a[t]
        cuda.syncthreads()
        step = WIDTH // 2
        while step:
            if t < step:
                part[t] += part[t + step]
            step //= 2
        if t == 0:
            out[0] = part[0]

    kernel[1, WIDTH](np.zeros(1, np.int32), np.arange(WIDTH, dtype=np.int32))


@case()
def reduction_by_shuffles():
    @cuda.jit
    def kernel(out, a):
        value = a[cuda.grid(1)]
        for step in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(FULL, value, step)
        if cuda.laneid == 0:
            cuda.atomic.add(out, 0, value)

    a, out = np.arange(96) ** 2, np.zeros(1, np.int64)
    kernel[1, 96](out, a)
    return [(out, [(a).sum()])]


@case()
def votes_of_a_warp():
    @cuda.jit
    def kernel(out, a):
        t = cuda.threadIdx.x
        ballot = cuda.ballot_sync(FULL, a[t] % 5 == 0)
        some = cuda.any_sync(FULL, a[t] > 100)
        every = cuda.all_sync(FULL, a[t] < 100)
        if t == 0:
            out[0] = cuda.popc(ballot)
            out[1] = 1 if some else 0
            out[2] = 1 if every else 0
            out[3] = cuda.ffs(ballot)

    out = np.zeros(4, np.int32)
    kernel[1, 32](out, np.arange(3, 35))
    return [(out, [6, 0, 1, 3])]


@case(no_progress="warning")
def every_lane_takes_the_lock():
    @cuda.jit
    def kernel(lock, total):
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        total[0] += 2
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)

    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    kernel[1, 5](lock, total)
    return [(total, [10]), (lock, [0])]


@case()
def whole_grid_meets():
    @cuda.jit
    def kernel(out, cells):
        grid = cuda.cg.this_grid()
        b = cuda.blockIdx.x
        if cuda.threadIdx.x == 0:
            cells[b] = 10 * b
        grid.sync()
        if cuda.threadIdx.x == 1:
            out[b] = cells[cuda.gridDim.x - 1 - b]

    out, cells = np.zeros(3, np.int32), np.zeros(3, np.int32)
    kernel[3, 4](out, cells)
    return [(out, [20, 10, 0])]


@case(uninitialised_read="error")
def tail_of_the_tile_not_written():
    @cuda.jit
    def kernel(out, a):
        tile = cuda.shared.array(16, np.int32)
        i, t = cuda.grid(1), cuda.threadIdx.x
        if i < a.size:
            tile[t] = a[i]
        cuda.syncthreads()
        if t == 0:
            total = 0
            for j in range(16):
                total += tile[j]
            out[cuda.blockIdx.x] = total

    out = np.zeros(2, np.int32)
    kernel[2, 16](out, np.full(20, 3, np.int32))
    return [(out[0], 48)]


@case(uninitialised_read="error")
def local_array_declared_in_a_loop():
    @cuda.jit
    def kernel(out):
        for r in range(4):
            own = cuda.local.array(3, np.int32)
            if r == 0:
                own[1] = 8
            own[1] += r
            out[r] = own[1]

    out = np.zeros(4, np.int32)
    kernel[1, 1](out)
    return [(out, [8, 9, 11, 14])]


@case(uninitialised_read="error")
def variable_set_by_some_threads():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        if i > 1:
            value = 9
        out[i] = value

    out = np.zeros(5, np.int32)
    kernel[1, 5](out)
    return [(out[2:], [9, 9, 9])]


@case()
def maximum_beside_nan():
    @cuda.jit
    def kernel(plain, skipping, a):
        i = cuda.threadIdx.x
        cuda.atomic.nanmax(skipping, 0, a[i])
        if a[i] == a[i]:
            cuda.atomic.max(plain, 0, a[i])

    plain, skipping = np.zeros(1), np.zeros(1)
    kernel[1, 4](plain, skipping, np.array([np.nan, 2.5, 7.25, np.nan]))
    return [(plain, [7.25]), (skipping, [7.25])]


@case()
def one_dynamic_block_in_slices():
    @cuda.jit
    def kernel(out):
        block = cuda.shared.array(0, np.int32)
        low, high = block[:4], block[4:8]
        t = cuda.threadIdx.x
        low[t], high[t] = t, 10 * t
        cuda.syncthreads()
        out[t] = low[3 - t] + high[3 - t]

    out = np.zeros(4, np.int32)
    kernel[1, 4, 0, 32](out)
    return [(out, [33, 22, 11, 0])]


@case()
def one_dynamic_block_of_two_types():
    @cuda.jit
    def kernel(out):
        floats = cuda.shared.array(0, np.float32)
        integers = cuda.shared.array(0, np.int32)[2:]
        floats[1] = 0.75
        integers[0] = 6
        out[0], out[1] = floats[1], integers[0]

    out = np.zeros(2, np.float32)
    kernel[1, 1, 0, 12](out)
    return [(out, [0.75, 6])]


@case()
def two_shared_arrays_on_a_line():
    @cuda.jit
    def kernel(out):
        p, q = cuda.shared.array(2, np.int32), cuda.shared.array(2, np.int32)
        p[1], q[1] = 4, 5
        out[0], out[1] = p[1], q[1]

    out = np.zeros(2, np.int32)
    kernel[1, 1](out)
    return [(out, [4, 5])]


@case()
def shared_array_sized_by_a_factory():
    def make(n):
        @cuda.jit(device=True)
        def last(value):
            own = cuda.shared.array(n, np.int32)
            own[n - 1] = value
            return own[n - 1] * own.size

        return last

    three, five = make(3), make(5)

    @cuda.jit
    def kernel(out):
        out[0] = three(7)
        out[1] = five(7)

    out = np.zeros(2, np.int32)
    kernel[1, 1](out)
    return [(out, [21, 35])]


@case()
def buffers_exchanged_in_a_loop():
    @cuda.jit
    def kernel(p, q, rounds):
        i = cuda.grid(1)
        source, target = p, q
        for _ in range(rounds):
            if i < source.size - 1:
                target[i] = source[i] + 2
            source, target = target, source

    p, q = np.zeros(5, np.int32), np.zeros(5, np.int32)
    kernel[1, 8](p, q, 5)
    return [(p, [8, 8, 8, 8, 0]), (q, [10, 10, 10, 10, 0])]


@case()
def threads_leave_a_while_apart():
    @cuda.jit
    def kernel(steps):
        i = cuda.grid(1)
        n, count = i + 2, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        steps[i] = count

    def steps_of(n):
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    steps = np.zeros(80, np.int32)
    kernel[2, 40](steps)
    return [(steps, [steps_of(i + 2) for i in range(80)])]
