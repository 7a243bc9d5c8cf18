"""Diverged threads meet again where an H200's do.

The expected values and request counts were read on an NVIDIA H200 (driver 580.159, 2026-11-29).
"""

from __future__ import annotations

import random

import numpy as np

from wia_lab import cuda, simulate

FULL = 0xFFFFFFFF


def row_sum(out, a):
    """A warp's strided sum with `continue`, then a shuffle tree."""
    lane = cuda.threadIdx.x
    total = 0
    for j in range(lane, a.size, 32):
        if a[j] < 0:
            continue
        total += a[j]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(FULL, total, step)
        step //= 2
    if lane == 0:
        out[0] = total


def votes(out, n):
    """A ballot at the top of a `while` whose lanes part by `continue`."""
    lane = cuda.threadIdx.x
    i = 0
    x = 0
    total = 0
    while i < n:
        ballot = cuda.ballot_sync(FULL, x > 1)
        total += ballot & 1023
        i += 1
        if (i + lane) % 2 == 0:
            x += 1
            continue
        x += 2
    out[lane] = total


def nested(out, a):
    """`break` and `continue` in an inner loop, a ballot behind it."""
    lane = cuda.threadIdx.x
    total = 0
    for r in range(3):
        k = 0
        for j in range(8):
            if j > (lane + r) % 5:
                break
            if a[j] < 0:
                continue
            k += a[j]
        ballot = cuda.ballot_sync(FULL, k > 20)
        total += ballot & 1023
    out[lane] = total


def flag_between_warps(out, flag, value):
    """One warp waits for what another writes, behind a fence."""
    thread = cuda.threadIdx.x
    if thread < 32:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        out[thread] = value[0]
    elif thread == 32:
        value[0] = 42
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)


def while_continue(out, a, n):
    lane = cuda.threadIdx.x
    i = 0
    total = 0
    while i < n:
        i += 1
        if (i + lane) % 2 == 0:
            continue
        total += a[i * 32 + lane]
    out[lane] = total


def for_continue(out, a, n):
    lane = cuda.threadIdx.x
    total = 0
    for i in range(n):
        if (i + lane) % 2 == 0:
            continue
        total += a[i * 32 + lane]
    out[lane] = total


def nested_break(out, a):
    lane = cuda.threadIdx.x
    total = 0
    for r in range(4):
        for j in range(8):
            if j > (lane + r) % 8:
                break
            if (j + lane) % 2 == 0:
                continue
            total += a[j * 32 + lane]
        total += a[300 + r * 32 + lane]
    out[lane] = total


class TestValues:
    """Warp operations see every lane of the warp, as the source reads."""

    def test_continue_before_a_shuffle(self) -> None:
        random.seed(1)
        a = np.array([random.randint(-3, 9) for _ in range(40)])
        out = np.zeros(1, np.int64)
        report = simulate(row_sum, 1, 32, out, a)
        assert out[0] == a[a >= 0].sum()
        assert report.hazards == ()

    def test_continue_before_a_vote(self) -> None:
        out = np.zeros(32, np.int64)
        simulate(votes, 1, 32, out, 6)
        assert out.tolist() == [4433] * 32

    def test_break_in_an_inner_loop(self) -> None:
        out = np.zeros(32, np.int64)
        simulate(nested, 1, 32, out, np.array([3, -1, 9, 9, 2, 7, 1, 1]))
        assert out.tolist() == [1386] * 32

    def test_flag_between_warps(self) -> None:
        out, flag, value = np.zeros(32, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
        report = simulate(flag_between_warps, 1, 64, out, flag, value)
        assert out.tolist() == [42] * 32
        assert report.hazards == ()


class TestRequests:
    """Loads count once for all lanes that meet at the loop's next iteration."""

    def test_while_with_continue(self) -> None:
        report = simulate(while_continue, 1, 32, np.zeros(32), np.ones(1000), 16)
        assert report.counters.global_load_requests == 16

    def test_for_with_continue(self) -> None:
        report = simulate(for_continue, 1, 32, np.zeros(32), np.ones(1000), 16)
        assert report.counters.global_load_requests == 16

    def test_nested_loops_with_break_and_continue(self) -> None:
        report = simulate(nested_break, 1, 32, np.zeros(32), np.ones(1000))
        assert report.counters.global_load_requests == 34


@cuda.jit(device=True)
def try_lock(lock):
    return cuda.atomic.cas(lock, 0, 0, 1) == 0


def lock_in_a_function(lock, value):
    """A naive spin lock whose test is a device function."""
    while not try_lock(lock):
        pass
    value[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


def waits_for_nobody(flag, out):
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
    out[cuda.threadIdx.x] = 1


class TestProgress:
    """A group that spins lets others run; if all spin, the launch ends with an error."""

    def test_a_lock_taken_by_a_device_function(self) -> None:
        lock, value = np.zeros(1, np.int32), np.zeros(1, np.int32)
        report = simulate(lock_in_a_function, 3, 40, lock, value)
        assert value[0] == 120
        assert [(h.kind, h.severity) for h in report.hazards] == [("no-progress", "warning")]

    def test_nobody_comes(self) -> None:
        flag, out = np.zeros(1, np.int32), np.zeros(64, np.int32)
        report = simulate(waits_for_nobody, 2, 32, flag, out)
        assert [(h.kind, h.severity) for h in report.hazards] == [("no-progress", "error")]
        assert out.sum() == 0
