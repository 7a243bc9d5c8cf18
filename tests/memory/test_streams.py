"""Stream-ordered reuse over any allocator."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from wia_lab.errors import DoubleFreeError, OutOfMemoryError
from wia_lab.memory import Heap, StreamOrdered


class FakeEvent:
    """An event that is done when a test says so."""

    def __init__(self):
        self.is_done = False


class FakeStream:
    """A stream that remembers the events it recorded."""

    def __init__(self):
        self.events = []

    def record(self):
        self.events.append(FakeEvent())
        return self.events[-1]


def test_same_stream_reuses_before_the_event_is_done():
    """The stream that freed a block gets it again at once."""
    memory, stream = StreamOrdered(Heap(4096)), FakeStream()
    block = memory.allocate(512, stream=stream)
    memory.free(block)
    again = memory.allocate(512, stream=stream)
    assert again.offset == block.offset
    assert again is not block
    assert memory.reused == 1
    with pytest.raises(DoubleFreeError):
        memory.free(block)
    memory.check()


def test_another_stream_gets_it_after_the_event():
    """Until the event is done the bytes are deferred; then they are free for all."""
    memory, one, two = StreamOrdered(Heap(1024)), FakeStream(), FakeStream()
    block = memory.allocate(1024, stream=one)
    memory.free(block)
    assert [region.state for region in memory.regions()] == ["deferred"]
    with pytest.raises(OutOfMemoryError, match="1,024 B more wait for their streams"):
        memory.allocate(512, stream=two)
    one.events[0].is_done = True
    assert memory.allocate(512, stream=two).offset == 0
    assert memory.deferred_bytes == 0


def test_the_stream_that_used_it_last_counts():
    """A block allocated on one stream and last used on another waits for the other."""
    memory, one, two = StreamOrdered(Heap(1024)), FakeStream(), FakeStream()
    memory.free(memory.allocate(1024, stream=one), stream=two)
    with pytest.raises(OutOfMemoryError):
        memory.allocate(1024, stream=one)
    assert memory.allocate(1024, stream=two).offset == 0


class StreamMachine(RuleBasedStateMachine):
    """No byte is handed out that unfinished work of another stream may still touch."""

    def __init__(self):
        super().__init__()
        self.heap = Heap(8192)
        self.memory = StreamOrdered(self.heap)
        self.streams = [FakeStream() for _ in range(3)]
        self.live = []
        self.in_use = []  # (first byte, behind the last, stream, event)

    @rule(size=st.integers(1, 2000), stream=st.integers(0, 2))
    def allocate(self, size, stream):
        stream = self.streams[stream]
        try:
            block = self.memory.allocate(size, stream=stream)
        except OutOfMemoryError:
            return
        for start, end, user, event in self.in_use:
            if block.offset < end and start < block.end and not event.is_done:
                assert user is stream, "another stream's block was reused before its event"
        self.live.append(block)

    @precondition(lambda self: self.live)
    @rule(data=st.data(), stream=st.integers(0, 2))
    def free(self, data, stream):
        block = self.live.pop(data.draw(st.integers(0, len(self.live) - 1)))
        stream = self.streams[stream]
        self.memory.free(block, stream=stream)
        # Who used the block had waited for all earlier use of its bytes
        self.in_use = [u for u in self.in_use if u[1] <= block.offset or block.end <= u[0]]
        self.in_use.append((block.offset, block.end, stream, stream.events[-1]))

    @rule(stream=st.integers(0, 2), count=st.integers(1, 3))
    def progress(self, stream, count):
        waiting = [event for event in self.streams[stream].events if not event.is_done]
        for event in waiting[:count]:  # a stream's events are done in order
            event.is_done = True

    @invariant()
    def books_agree(self):
        self.memory.check()
        spans = sorted((block.offset, block.end) for block in self.live)
        assert all(a[1] <= b[0] for a, b in pairwise(spans))

    def teardown(self):
        for block in self.live:
            self.memory.free(block)
        for stream in self.streams:
            for event in stream.events:
                event.is_done = True
        self.memory.trim()
        assert self.heap.statistics.largest_free_bytes == 8192


StreamMachine.TestCase.settings = settings(
    max_examples=min(settings().max_examples, 25), stateful_step_count=25, deadline=None
)
TestStreamMachine = StreamMachine.TestCase
