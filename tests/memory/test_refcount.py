"""Counted buffers: strong and weak handles, stream order, and what only `gc` can collect."""

from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from wia_lab.errors import ReleasedError
from wia_lab.memory import Counted, Heap, Pool
from wia_lab.memory.cycles import unreachable


class FakeEvent:
    """An event that is never done."""

    is_done = False


class FakeStream:
    """A stream whose work never ends."""

    def record(self):
        return FakeEvent()


class Owner:
    """Anything that can own a buffer."""


@pytest.fixture
def heap():
    """A small heap."""
    return Heap("1MiB")


@pytest.fixture
def counted(heap):
    """Counted buffers on it."""
    return Counted(heap)


class TestCounts:
    """The last release frees, and nothing brings a buffer back."""

    def test_last_release_frees(self, heap, counted):
        """Two handles, two releases; the block lives until the second."""
        first = counted.create(1000)
        second = first.retain()
        assert first.count == 2
        first.release()
        assert heap.statistics.live_blocks == 1
        second.release()
        assert heap.statistics.live_blocks == 0

    def test_retain_after_zero_is_refused(self, counted):
        """A released handle gives nothing any more, and is not released twice."""
        handle = counted.create(1000)
        handle.release()
        for action in (handle.retain, handle.release, handle.weak, lambda: handle.block):
            with pytest.raises(ReleasedError):
                action()

    def test_one_handle_cannot_release_for_another(self, heap, counted):
        """Releasing one handle twice is an error although another still holds the buffer."""
        first = counted.create(1000)
        second = first.retain()
        first.release()
        with pytest.raises(ReleasedError):
            first.release()
        assert second.count == 1
        assert heap.statistics.live_blocks == 1

    def test_with(self, heap, counted):
        """A context releases its handle, also after an error."""
        with pytest.raises(ZeroDivisionError), counted.create(1000):
            1 / 0  # noqa: B018
        assert heap.statistics.live_blocks == 0


class TestWeak:
    """A weak handle looks, and does not hold."""

    def test_lock(self, counted):
        """It locks while the buffer is there, and gives None after."""
        strong = counted.create(1000)
        weak = strong.weak()
        locked = weak.lock()
        assert strong.count == 2
        strong.release()
        assert weak.is_alive
        locked.release()
        assert not weak.is_alive
        assert weak.lock() is None


def test_release_is_in_stream_order():
    """The host's count is zero, but the stream may still use the bytes: nobody else gets them."""
    pool = Pool(Heap("1MiB"))
    counted, stream = Counted(pool), FakeStream()
    handle = counted.create(1000, stream=stream)
    offset = handle.block.offset
    handle.release(stream)
    assert pool.allocate(1000).offset != offset
    assert pool.allocate(1000, stream=stream).offset == offset


class TestCollector:
    """`gc` finds what counting cannot."""

    def test_cycle(self, heap, counted):
        """Two buffers that hold each other are freed once nobody else holds either."""
        a, b = counted.create(256), counted.create(512)
        a.hold(b)
        b.hold(a)
        a.release()
        b.release()
        assert heap.statistics.live_bytes == 768
        collected = counted.gc()
        assert (collected.owner_bytes, collected.cycle_bytes) == (0, 768)
        assert heap.statistics.live_bytes == 0

    def test_cycle_that_is_needed_stays(self, heap, counted):
        """A cycle that a live handle reaches, also through others, is not garbage."""
        root, a, b = (counted.create(256) for _ in range(3))
        root.hold(a)
        a.hold(b)
        b.hold(a)
        a.release()
        b.release()
        assert counted.gc().total_bytes == 0
        assert heap.statistics.live_blocks == 3
        root.release()
        assert counted.gc().cycle_bytes == 512

    def test_garbage_lets_go_of_what_it_held(self, heap, counted):
        """What a collected cycle held loses that count, and no more."""
        a, tail = counted.create(256), counted.create(256)
        a.hold(a)
        a.hold(tail)
        a.release()
        assert counted.gc().cycle_bytes == 256
        assert tail.count == 1
        tail.release()
        assert heap.statistics.live_blocks == 0

    def test_vanished_owner(self, heap, counted):
        """An owner that is gone gives its share up at the next `gc`."""
        owner = Owner()
        weak = counted.create(256).own(owner)
        assert counted.gc().total_bytes == 0
        del owner
        gc.collect()
        assert weak.is_alive
        assert counted.gc().owner_bytes == 256
        assert not weak.is_alive
        assert heap.statistics.live_blocks == 0

    def test_cached_blocks(self):
        """What a pool below keeps goes back too, and is counted."""
        pool = Pool(Heap("1MiB"))
        counted = Counted(pool)
        counted.create(1024).release()
        assert counted.gc().cached_bytes == 1024
        assert pool.statistics.reserved_bytes == 0

    def test_let_go(self, counted):
        """A hold that was undone holds no more; one that never was is refused."""
        a, b = counted.create(256), counted.create(256)
        a.hold(b)
        assert b.count == 2
        a.let_go(b)
        assert b.count == 1
        with pytest.raises(ReleasedError, match="not held"):
            a.let_go(b)


def test_unreachable_is_what_a_search_from_outside_misses():
    """Trial deletion finds on a fixed graph what reachability says: 3 and 4 only."""
    holds = {0: [1], 1: [2, 0], 2: [], 3: [4], 4: [3, 2]}
    outside = {0: 1, 1: 0, 2: 0, 3: 0, 4: 0}
    count = {n: outside[n] + sum(h.count(n) for h in holds.values()) for n in holds}
    assert unreachable(holds, count=count.__getitem__, holds=holds.__getitem__) == {3, 4}


class CountedMachine(RuleBasedStateMachine):
    """Counts against a model: a graph of holds and a number of handles for each buffer."""

    def __init__(self):
        super().__init__()
        self.heap = Heap("1MiB")
        self.counted = Counted(self.heap)
        self.handles = []  # (handle, name)
        self.holds = []  # (name, name)
        self.weak = {}
        self.names = 0

    def alive(self):
        """Buffers with a count above zero, as the model sees them."""
        alive = set(self.weak)
        while True:
            held = {n for _, n in self.handles} | {b for a, b in self.holds if a in alive}
            if alive <= held:
                return alive
            alive &= held

    def settle(self):
        alive = self.alive()
        self.holds = [(a, b) for a, b in self.holds if a in alive]
        for name in set(self.weak) - alive:
            assert not self.weak.pop(name).is_alive

    @rule()
    def create(self):
        handle = self.counted.create(256)
        self.handles.append((handle, self.names))
        self.weak[self.names] = handle.weak()
        self.names += 1

    @precondition(lambda self: self.handles)
    @rule(data=st.data())
    def retain(self, data):
        handle, name = data.draw(st.sampled_from(self.handles))
        self.handles.append((handle.retain(), name))

    @precondition(lambda self: self.handles)
    @rule(data=st.data())
    def hold(self, data):
        a, from_name = data.draw(st.sampled_from(self.handles))
        b, to_name = data.draw(st.sampled_from(self.handles))
        a.hold(b)
        self.holds.append((from_name, to_name))

    @precondition(lambda self: self.handles)
    @rule(data=st.data())
    def release(self, data):
        handle, _ = self.handles.pop(data.draw(st.integers(0, len(self.handles) - 1)))
        handle.release()
        self.settle()

    @rule()
    def collect(self):
        self.counted.gc()
        reached = {name for _, name in self.handles}
        grown = True
        while grown:
            more = {b for a, b in self.holds if a in reached} - reached
            reached |= more
            grown = bool(more)
        assert {n for n, weak in self.weak.items() if weak.is_alive} == reached
        self.weak = {n: weak for n, weak in self.weak.items() if n in reached}
        self.holds = [(a, b) for a, b in self.holds if a in reached]

    @invariant()
    def books_agree(self):
        self.counted.check()
        self.heap.check()
        assert self.heap.statistics.live_blocks == len(self.weak)

    def teardown(self):
        for handle, _ in self.handles:
            handle.release()
        self.counted.gc()
        assert self.heap.statistics.live_blocks == 0


CountedMachine.TestCase.settings = settings(
    max_examples=min(settings().max_examples, 25), stateful_step_count=25, deadline=None
)
TestCountedMachine = CountedMachine.TestCase


def test_dead_buffers_are_not_kept_alive_by_the_library(counted):
    """A released handle keeps nothing of its buffer but the shared count."""
    handle = counted.create(256)
    block = weakref.ref(handle.block)
    handle.release()
    gc.collect()
    assert block() is None
