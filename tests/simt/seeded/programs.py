"""Longer programs, as they are met in practice, and what can go wrong in them."""

from __future__ import annotations

import math

import numpy as np
from planting import Original, Said, fault

from wia_lab import cuda

FULL = 0xFFFFFFFF


def bitonic_sort(a):
    tile = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()  # loaded
    size = 2
    while size <= 128:
        stride = size // 2
        while stride > 0:
            other = t ^ stride
            if other > t:
                ascending = (t & size) == 0
                if (tile[t] > tile[other]) == ascending:
                    tile[t], tile[other] = tile[other], tile[t]
            cuda.syncthreads()  # exchanged
            stride //= 2
        size *= 2
    a[t] = tile[t]


def bodies(force, x):
    tile = cuda.shared.array(32, np.float32)
    i = cuda.grid(1)
    mine = x[i] if i < x.size else np.float32(0)
    total = np.float32(0)
    for start in range(0, x.size, 32):
        j = start + cuda.threadIdx.x
        if j < x.size:
            tile[cuda.threadIdx.x] = x[j]
        cuda.syncthreads()  # loaded
        for k in range(min(32, x.size - start)):
            d = tile[k] - mine
            total += d * abs(d)
        cuda.syncthreads()  # used
    if i < x.size:
        force[i] = total


def fourier(re, im):
    part = cuda.shared.array((2, 64), np.float64)
    t = cuda.threadIdx.x
    part[0, cuda.brev(np.uint32(t)) >> 26] = re[t]
    part[1, cuda.brev(np.uint32(t)) >> 26] = im[t]
    half = 1
    while half < 64:
        cuda.syncthreads()  # round
        if t < 32:
            k = t % half
            i = (t // half) * 2 * half + k
            j = i + half
            c, s = math.cos(-math.pi * k / half), math.sin(-math.pi * k / half)
            x, y = part[0, j] * c - part[1, j] * s, part[0, j] * s + part[1, j] * c
            part[0, j], part[1, j] = part[0, i] - x, part[1, i] - y
            part[0, i], part[1, i] = part[0, i] + x, part[1, i] + y
        half *= 2
    cuda.syncthreads()  # done
    re[t], im[t] = part[0, t], part[1, t]


def work_queue(done, head):
    item = cuda.shared.array(1, np.int32)
    while True:
        if cuda.threadIdx.x == 0:
            item[0] = cuda.atomic.add(head, 0, 1)
        cuda.syncthreads()  # drawn
        mine = item[0]
        cuda.syncthreads()  # read
        if mine >= done.shape[0]:
            break
        done[mine, cuda.threadIdx.x] = mine * 100 + cuda.threadIdx.x


def components(label, parent, edges):
    i = cuda.grid(1)
    if i < edges.shape[0]:
        a, b = edges[i, 0], edges[i, 1]
        while True:
            while True:
                above = cuda.atomic.add(parent, a, 0)
                if above == a:
                    break
                a = above
            while True:
                above = cuda.atomic.add(parent, b, 0)
                if above == b:
                    break
                b = above
            if a == b:
                break
            if a < b:
                a, b = b, a
            if cuda.atomic.cas(parent, a, a, b) == a:
                break
    cuda.syncthreads()
    root = i
    while parent[root] != root:
        root = parent[root]
    label[i] = root


def levels(level, rows, columns, changed):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    now = 0
    going = True
    while going:
        if i < level.size and cuda.atomic.add(level, i, 0) == now:
            for k in range(rows[i], rows[i + 1]):
                cuda.atomic.cas(level, columns[k], -1, now + 1)
                cuda.atomic.max(changed, 0, now + 1)
        grid.sync()  # spread
        going = changed[0] > now
        now += 1
        grid.sync()  # seen


def producer(out, box, full, a):
    t = cuda.threadIdx.x
    lane = t % 32
    if t < 32:
        for k in range(a.size // 32):
            if lane == 0:
                while cuda.atomic.add(full, 0, 0) == 1:
                    pass
            cuda.threadfence()
            cuda.syncwarp()  # empty
            box[lane] = a[k * 32 + lane]
            cuda.threadfence()
            cuda.syncwarp()  # filled
            if lane == 0:
                cuda.atomic.exch(full, 0, 1)
            cuda.syncwarp()
    else:
        for k in range(a.size // 32):
            if lane == 0:
                while cuda.atomic.add(full, 0, 0) == 0:
                    pass
            cuda.threadfence()
            cuda.syncwarp()  # full
            out[k * 32 + lane] = box[31 - lane]
            cuda.threadfence()
            cuda.syncwarp()  # emptied
            if lane == 0:
                cuda.atomic.exch(full, 0, 0)
            cuda.syncwarp()


def in_place_transpose(a):
    column, row = cuda.grid(2)
    if row < column < a.shape[0]:
        a[row, column], a[column, row] = a[column, row], a[row, column]


def aggregated(out, count, a):
    i = cuda.grid(1)
    if i < a.size and a[i] % 3 == 0:
        mask = cuda.activemask()
        leader = cuda.ffs(mask) - 1
        base = 0
        if cuda.laneid == leader:
            base = cuda.atomic.add(count, 0, cuda.popc(mask))
        base = cuda.shfl_sync(mask, base, leader)
        out[base + cuda.popc(mask & cuda.lanemask_lt())] = a[i]


def _bitonic_sort():
    a = (np.arange(128, dtype=np.int32) * 77) % 131
    return (a.copy(),), {0: np.sort(a)}


def _bodies():
    x = (np.arange(75, dtype=np.float32) * 5) % 17
    d = x[None, :] - x[:, None]
    return (np.zeros(75, np.float32), x), {0: (d * abs(d)).sum(axis=1)}


def _fourier():
    x = np.cos(np.arange(64) ** 1.5) + 1j * np.sin(np.arange(64))
    f = np.fft.fft(x)
    return (x.real.copy(), x.imag.copy()), {0: f.real, 1: f.imag}


def _work_queue():
    expected = 100 * np.arange(11)[:, None] + np.arange(40)
    return (np.zeros((11, 40), np.int32), np.zeros(1, np.int32)), {0: expected}


def _components():
    edges = np.array([(i, (i * i + 3) % 40) for i in range(0, 40, 3)], np.int32)
    label = list(range(40))
    for _ in range(40):
        for a, b in edges.tolist():
            label[a] = label[b] = min(label[a], label[b])
    return (np.zeros(40, np.int32), np.arange(40, dtype=np.int32), edges), {0: label}


def _levels():
    n = 50
    neighbours = [sorted({(3 * i + 1) % n, (i * i) % n, (i + 17) % n}) for i in range(n)]
    rows = np.cumsum([0] + [len(each) for each in neighbours])
    columns = np.concatenate(neighbours)
    level = np.full(n, -1, np.int64)
    level[0] = 0
    expected, front = level.copy(), [0]
    while front:
        reached = {j for i in front for j in neighbours[i] if expected[j] < 0}
        for j in reached:
            expected[j] = expected[front[0]] + 1
        front = sorted(reached)
    return (level, rows, columns, np.zeros(1, np.int64)), {0: expected}


def _producer():
    a = np.arange(128) ** 2
    arguments = (np.zeros(128, np.int64), np.zeros(32, np.int64), np.zeros(1, np.int32), a)
    return arguments, {0: a.reshape(4, 32)[:, ::-1].ravel()}


def _in_place_transpose():
    a = np.arange(400).reshape(20, 20)
    return (a.copy(),), {0: a.T}


def _aggregated():
    a = np.arange(100) * 7 % 50
    return (np.zeros(100, np.int64), np.zeros(1, np.int32), a), {1: [np.sum(a % 3 == 0)]}


ORIGINALS = {
    "bitonic sort": Original(bitonic_sort, 1, 128, _bitonic_sort),
    "bodies": Original(bodies, 3, 32, _bodies, rtol=1e-5),
    "fourier": Original(fourier, 1, 64, _fourier, rtol=1e-9),
    "work queue": Original(work_queue, 4, 40, _work_queue),
    "components": Original(components, 1, 40, _components),
    "levels": Original(levels, 2, 32, _levels),
    "producer": Original(producer, 1, 64, _producer),
    "in-place transpose": Original(in_place_transpose, (2, 2), (16, 16), _in_place_transpose),
    "aggregated": Original(aggregated, 2, 64, _aggregated),
}

FAULTS = [
    fault(
        "bitonic sort",
        "barrier in the branch",
        {"            cuda.syncthreads()  # ex": "                cuda.syncthreads()  # ex"},
        Said("divergent-barrier", "# exchanged"),
        Said("race", "== ascending", "tile[t], tile[other] ="),
        Said("race", "tile[t], tile[other] =", "tile[t], tile[other] ="),
    ),
    fault(
        "bodies",
        "guard off by one",
        {"if j < x.size": "if j <= x.size"},
        Said("out-of-bounds", "= x[j]"),
    ),
    fault(
        "fourier",
        "last barrier dropped",
        {"    cuda.syncthreads()  # done\n": ""},
        Said("race", "re[t], im[t] =", "part[0, j], part[1, j] ="),
    ),
    fault(
        "work queue",
        "item read after the next is drawn",
        {"        cuda.syncthreads()  # read\n": ""},
        Said("race", "item[0] =", "mine ="),
    ),
    fault(
        "components",
        "parents read without atomics",
        {"above = cuda.atomic.add(parent, a, 0)": "above = parent[a]"},
        Said("race", "atomic.cas", "above = parent[a]"),
        Said("race", "add(parent, b, 0)", "above = parent[a]"),
    ),
    fault(
        "levels",
        "second barrier dropped",
        {"        grid.sync()  # seen\n": ""},
        Said("race", "atomic.max(changed", "going = changed"),
    ),
    fault(
        "producer",
        "box not waited for",
        {"            cuda.syncwarp()  # filled\n": ""},
        Said("race", "= box[31", "box[lane] ="),
    ),
    fault(
        "producer",
        "box freed too early",
        {"            cuda.syncwarp()  # emptied\n": ""},
        Said("race", "box[lane] =", "= box[31"),
    ),
    fault(
        "in-place transpose",
        "every element exchanged",
        {"row < column < a.shape[0]": "row < a.shape[0] and column < a.shape[0]"},
        Said("race", "a[row, column], a[column, row] =", "a[row, column], a[column, row] ="),
    ),
    fault(
        "aggregated",
        "mask of the whole warp",
        {"shfl_sync(mask,": "shfl_sync(FULL,"},
        Said("divergent-barrier", "shfl_sync"),
    ),
    fault(
        "aggregated",
        "count without an atomic",
        {
            "base = cuda.atomic.add(count, 0, cuda.popc(mask))": (
                "base = count[0]\n            count[0] = base + cuda.popc(mask)"
            )
        },
        Said("race", "count[0] = base", "base = count[0]"),
        Said("race", "count[0] = base", "count[0] = base"),
        Said("race", "out[base", "out[base"),
    ),
]
