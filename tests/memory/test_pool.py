"""The pool: hits, age, limits, streams, and its books under threads."""

from __future__ import annotations

import threading

import pytest

from wia_lab.errors import OutOfMemoryError
from wia_lab.memory import Heap, Pool, SizeClasses


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


class TestReuse:
    """A freed block is handed out again for the same class, and only then."""

    def test_same_class_hits(self):
        """A size of the same class gets the same bytes; another class does not."""
        pool = Pool(Heap("1MiB"))
        first = pool.allocate(1000)
        offset = first.offset
        pool.free(first)
        assert pool.allocate(900).offset == offset
        assert pool.allocate(2000).offset != offset
        now = pool.statistics
        assert (now.hits, now.misses, now.allocations) == (1, 2, 3)
        assert now.hit_rate == pytest.approx(1 / 3)

    def test_most_recently_freed_is_reused_first(self):
        """Reuse takes the block freed last: it is likeliest in a cache."""
        pool = Pool(Heap("1MiB"))
        blocks = [pool.allocate(256) for _ in range(3)]
        offsets = [block.offset for block in blocks]
        for block in blocks:
            pool.free(block)
        assert [pool.allocate(256).offset for _ in range(3)] == offsets[::-1]

    def test_stale_handle_does_not_free_the_new_block(self):
        """A handle freed before cannot free the block that now has its bytes."""
        pool = Pool(Heap("1MiB"))
        old = pool.allocate(256)
        pool.free(old)
        new = pool.allocate(256)
        with pytest.raises(Exception, match="freed before"):
            pool.free(old)
        assert list(pool.blocks()) == [new]


class TestSpacing:
    """Four classes to a doubling lose at most a fifth; one loses up to a half."""

    @pytest.mark.parametrize(("steps", "worst"), [(1, 0.5), (2, 1 / 3), (4, 0.2), (8, 1 / 9)])
    def test_loss(self, steps, worst):
        """The largest loss, found by trying every size, is what the spacing promises."""
        classes = SizeClasses(1, steps)
        losses = [1 - n / classes.size(classes.index(n)) for n in range(1, 1 << 12)]
        assert max(losses) == pytest.approx(worst, abs=0.01)
        assert max(losses) <= worst

    def test_known_classes(self):
        """With 4 steps and 256 B: 256 … 2048 by 256, then 2560, 3072, 3584, 4096, 5120, …."""
        classes = SizeClasses(256, 4)
        sizes = [classes.size(i) for i in range(14)]
        by_256 = [256 * n for n in range(1, 9)]
        assert sizes == [*by_256, 2560, 3072, 3584, 4096, 5120, 6144]


class TestAge:
    """What is kept too much goes back in the order in which it was freed."""

    def test_least_recently_freed_goes_first(self):
        """Over its bound of bytes, the pool gives the oldest back, whatever its class."""
        heap = Heap("1MiB")
        pool = Pool(heap, keep=1024)
        old, middle, new = pool.allocate(512), pool.allocate(256), pool.allocate(512)
        offsets = [b.offset for b in (old, middle, new)]
        for block in (old, middle, new):
            pool.free(block)
        held = {block.offset for block in heap.blocks()}
        assert held == {offsets[1], offsets[2]}
        assert pool.statistics.cached_bytes == 768

    def test_bound_of_blocks(self):
        """Over its bound of blocks in a class, the class's oldest goes."""
        heap = Heap("1MiB")
        pool = Pool(heap, keep_blocks=2)
        blocks = [pool.allocate(256) for _ in range(4)]
        offsets = [block.offset for block in blocks]
        for block in blocks:
            pool.free(block)
        assert {block.offset for block in heap.blocks()} == set(offsets[2:])

    def test_keeping_nothing(self):
        """A pool that may keep nothing is only a rounding heap."""
        heap = Heap("1MiB")
        pool = Pool(heap, keep=0)
        pool.free(pool.allocate(100))
        assert heap.statistics.live_bytes == 0
        pool.check()

    def test_trim(self):
        """`trim` gives back all that is kept and says how much."""
        heap = Heap("1MiB")
        pool = Pool(heap)
        for block in [pool.allocate(n) for n in (256, 512, 1024)]:
            pool.free(block)
        assert pool.trim() == 1792
        assert heap.statistics.live_bytes == 0


class TestLimit:
    """The limit is on what is taken from upstream, live and kept."""

    def test_kept_blocks_make_room(self):
        """Before a request is refused, kept blocks of other classes go back."""
        pool = Pool(Heap("1MiB"), limit=2048)
        pool.free(pool.allocate(2048))
        assert pool.allocate(1024).size == 1024
        assert pool.statistics.reserved_bytes == 1024
        with pytest.raises(OutOfMemoryError, match="raise limit=2,048"):
            pool.allocate(1280)
        assert pool.statistics.reserved_bytes <= 2048

    def test_upstream_exhausted(self):
        """When upstream is full, what is kept goes back and the request is served."""
        pool = Pool(Heap(4096))
        for block in [pool.allocate(1024) for _ in range(4)]:
            pool.free(block)
        assert pool.allocate(4096).offset == 0


class TestStreams:
    """Same stream at once, another after the event."""

    def test_same_stream_reuses_at_once(self):
        """Work on one stream runs in order, so its block needs no wait."""
        pool, stream = Pool(Heap("1MiB")), FakeStream()
        block = pool.allocate(256, stream=stream)
        offset = block.offset
        pool.free(block)
        assert not stream.events[-1].is_done
        assert pool.allocate(256, stream=stream).offset == offset

    def test_other_stream_waits_for_the_event(self):
        """Another stream, or the host, gets other bytes until the event is done."""
        pool, one, two = Pool(Heap("1MiB")), FakeStream(), FakeStream()
        block = pool.allocate(256, stream=one)
        offset = block.offset
        pool.free(block)
        assert pool.allocate(256, stream=two).offset != offset
        assert pool.allocate(256).offset != offset
        one.events[-1].is_done = True
        assert pool.allocate(256, stream=two).offset == offset
        assert pool.stolen == 1
        pool.check()

    def test_freed_on_another_stream(self):
        """The stream that last used a block counts, not the one it was allocated for."""
        pool, one, two = Pool(Heap("1MiB")), FakeStream(), FakeStream()
        block = pool.allocate(256, stream=one)
        offset = block.offset
        pool.free(block, stream=two)
        assert pool.allocate(256, stream=one).offset != offset
        assert pool.allocate(256, stream=two).offset == offset
        pool.check()

    def test_block_in_use_is_not_given_back(self):
        """`trim` leaves what a stream may still use, and takes it when the event is done."""
        heap, stream = Heap("1MiB"), FakeStream()
        pool = Pool(heap)
        pool.free(pool.allocate(256, stream=stream))
        assert pool.trim() == 0
        assert [region.state for region in pool.regions()] == ["deferred"]
        stream.events[-1].is_done = True
        assert pool.trim() == 256


class TestThreads:
    """The books are exact however many threads there are."""

    @pytest.mark.parametrize(
        "operations", [16_000, pytest.param(1_000_000, marks=pytest.mark.slow)]
    )
    def test_eight_threads(self, operations):
        """8 threads; the counts are what was done, nothing is lost, nothing is live at the end."""
        pool = Pool(Heap("64MiB"), keep="1MiB")
        each = operations // 16  # an allocation and a free are two operations
        failures = []

        def work(seed):
            held = []
            try:
                for i in range(each):
                    held.append(pool.allocate(256 + (i * 97 + seed * 131) % 5000))
                    if len(held) > 5:
                        pool.free(held.pop((i * 7) % 5))
                for block in held:
                    pool.free(block)
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        pool.check()
        now = pool.statistics
        assert now.allocations == now.hits + now.misses == 8 * each
        assert now.frees == 8 * each
        assert now.live_bytes == now.live_blocks == 0
        assert now.cached_bytes == now.reserved_bytes <= 1 << 20

    def test_finaliser_inside_the_lock(self):
        """`free_later` takes no lock: a finaliser may run while this thread holds it."""
        pool = Pool(Heap("1MiB"))
        block = pool.allocate(256)
        with pool._lock:
            pool.free_later(block)
        assert pool.trim() == 256
        assert pool.statistics.live_blocks == 0
