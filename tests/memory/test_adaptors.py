"""Policies stack, and each does its one thing."""

from __future__ import annotations

import inspect
import threading

import pytest

from wia_lab.errors import OutOfMemoryError
from wia_lab.memory import Heap, Limit, Locked, Log, OnFailure, Pool, Recorder, Track


def test_the_stack_of_the_docstring():
    """`Limit(Track(Pool(heap)))` allocates, refuses at the limit, and frees."""
    heap = Heap("2MiB")
    memory = Limit(Track(Pool(heap)), "1MiB")
    block = memory.allocate(1 << 20)
    with pytest.raises(OutOfMemoryError, match="256 B asked, 0 B left of the limit of 1,048,576 B"):
        memory.allocate(256)
    memory.free(block)
    memory.allocate(256)
    memory.check()


class TestLimit:
    """The limit counts bytes as granted."""

    def test_rounding_counts(self):
        """A request within the limit whose block is not, is refused and given back."""
        heap = Heap(4096)
        memory = Limit(heap, 300)
        with pytest.raises(OutOfMemoryError):
            memory.allocate(290)
        assert heap.statistics.live_blocks == 0
        assert memory.allocate(200).size == 256

    def test_refused_free_changes_nothing(self):
        """A free that upstream refuses does not lower what is live."""
        memory = Limit(Heap(4096), 1024)
        block = memory.allocate(512)
        memory.free(block)
        with pytest.raises(Exception, match="freed before"):
            memory.free(block)
        assert memory.live == 0

    def test_explain(self):
        """It says when the limit is what is in the way."""
        memory = Limit(Heap(4096), 1024)
        memory.allocate(768)
        assert str(memory.explain(512)) == ("512 B would pass the limit: 256 B are left of 1,024 B")


class TestTrack:
    """Each live block has the line that allocated it."""

    def test_sites_and_leaks(self):
        """The site is the caller's line, through any number of adaptors."""
        memory = Track(Pool(Heap("1MiB")))
        outer = Limit(memory, "1MiB")
        kept, line = outer.allocate(300), inspect.currentframe().f_lineno
        outer.free(outer.allocate(400))
        assert memory.site_of(kept).line == line
        assert memory.site_of(kept).file == __file__
        assert [(leak.size, leak.site.line) for leak in memory.leaks()] == [(512, line)]

    def test_out_of_memory_names_the_lines(self):
        """The error says which lines hold what is missing."""
        memory = Track(Heap(1024))
        line = inspect.currentframe().f_lineno + 1
        held = [memory.allocate(256) for _ in range(4)]
        with pytest.raises(OutOfMemoryError, match=f"held by 1,024 B from .*:{line} in") as caught:
            memory.allocate(256)
        assert all(f":{line} in" in label for _, _, label in caught.value.holders)
        assert len(held) == 4


def test_log_is_in_order():
    """Allocations, frees and refusals, with offsets and bytes."""
    memory = Log(Heap(1024))
    block = memory.allocate(300)
    with pytest.raises(OutOfMemoryError):
        memory.allocate(1000)
    memory.free(block)
    assert [(e.action, e.offset, e.size) for e in memory.entries] == [
        ("allocate", 0, 512),
        ("refuse", 0, 1000),
        ("free", 0, 512),
    ]


class TestOnFailure:
    """A callback may make room, a bounded number of times."""

    def test_callback_makes_room(self):
        """It is told the bytes, and the request is tried again."""
        heap = Heap(1024)
        held, asked = [heap.allocate(1024)], []

        def make_room(nbytes):
            asked.append(nbytes)
            heap.free(held.pop())
            return True

        assert OnFailure(heap, make_room).allocate(512).size == 512
        assert asked == [512]

    def test_bounded(self):
        """A callback that promises and does nothing is asked twice, then the error is raised."""
        heap, calls = Heap(1024), []
        heap.allocate(1024)
        with pytest.raises(OutOfMemoryError):
            OnFailure(heap, lambda n: calls.append(n) or True).allocate(512)
        assert calls == [512, 512]

    def test_callback_that_gives_up(self):
        """When it returns False nothing is tried again."""
        heap, calls = Heap(1024), []
        heap.allocate(1024)
        with pytest.raises(OutOfMemoryError):
            OnFailure(heap, lambda n: bool(calls.append(n))).allocate(512)
        assert calls == [512]


def test_locked_heap_under_threads():
    """Eight threads over a heap that takes no lock: nothing is lost, all merges at the end."""
    heap = Heap("1MiB")
    memory = Locked(heap)

    def work():
        for i in range(300):
            memory.free(memory.allocate(100 + i))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory.check()
    assert heap.statistics.allocations == 2400
    assert heap.statistics.largest_free_bytes == 1 << 20


def test_recorder_records_what_was_asked():
    """Ids in order of allocation, bytes as asked for; a free by offset counts too."""
    memory = Recorder(Heap(4096))
    a, b = memory.allocate(100), memory.allocate(200)
    memory.free(b.offset)
    memory.free(a)
    assert [tuple(event) for event in memory.trace().events] == [
        ("a", 0, 100),
        ("a", 1, 200),
        ("f", 1, 200),
        ("f", 0, 100),
    ]
