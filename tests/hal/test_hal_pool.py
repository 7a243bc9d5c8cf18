"""Memory pools of the HAL: reuse, order between streams, limits, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import wia_lab.hal as wia
from wia_lab import hazards
from wia_lab.hal import MemoryKind, MemoryPool, PoolConfig

if TYPE_CHECKING:
    import numpy as np

MIB = 1 << 20


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H100."""
    made = wia.Context(wia.open_machine("2xH100-nvlink")[0])
    yield made
    with hazards("off"):
        made.close()


def fill(memory: np.ndarray, value: int) -> None:
    memory[:] = value


class TestReuse:
    """What is freed is kept, and handed out again."""

    def test_the_loop_of_the_standard(self, context: wia.Context) -> None:
        """One miss, then hits: 99 of 100 allocations."""
        with context.create_stream() as stream, MemoryPool(context) as pool:
            for _ in range(100):
                pool.allocate(MIB, stream=stream).close()
            stats = pool.stats
        assert (stats.num_allocations, stats.cache_hit_rate) == (100, 0.99)
        assert (stats.in_use, stats.kept, stats.peak_in_use) == (0, MIB, MIB)
        assert context.memory_in_use == 0

    def test_blocks(self, context: wia.Context) -> None:
        """Sizes are multiples of the block; the buffer is as long as asked."""
        with MemoryPool(context, PoolConfig(block_size=4096)) as pool:
            buffer = pool.allocate(5)
            assert (buffer.nbytes, pool.stats.in_use) == (5, 4096)

    def test_without_caching(self, context: wia.Context) -> None:
        with MemoryPool(context, PoolConfig(caching=False)) as pool:
            pool.allocate(MIB).close()
            assert (pool.stats.kept, context.memory_in_use) == (0, 0)

    def test_another_stream_waits_its_turn(self, context: wia.Context) -> None:
        """Memory still in use on one stream is not handed to another; on its own it is."""
        one, two = context.create_stream(), context.create_stream()
        with MemoryPool(context) as pool:
            first = pool.allocate(MIB, stream=one)
            one.submit(fill, first, 1, seconds=1)
            storage = first.storage
            first.close()
            other, same = pool.allocate(MIB, stream=two), pool.allocate(MIB, stream=one)
            assert other.storage is not storage
            assert same.storage is storage
            same.close()
            one.synchronize()
            late = pool.allocate(MIB, stream=two)
            assert late.storage is storage
            two.submit(fill, late, 2, seconds=1)
            two.synchronize()

    def test_dropped_buffers_come_back(self, context: wia.Context) -> None:
        """Collection frees what nobody refers to, and what the pool keeps."""
        with MemoryPool(context, PoolConfig(max_size=2 * MIB)) as pool:
            pool.allocate(MIB)
            pool.allocate(MIB)
            assert pool.allocate(2 * MIB).nbytes == 2 * MIB
            context.collect()
            assert context.memory_in_use == 0


class TestSizes:
    """From the initial size to the largest."""

    def test_initial_size_is_set_aside(self, context: wia.Context) -> None:
        """Others cannot take it; the pool's buffers come out of it."""
        context.memory_limit = 8 * MIB
        with MemoryPool(context, PoolConfig(initial_size=6 * MIB)) as pool:
            assert (context.memory_in_use, pool.stats.reserved) == (6 * MIB, 6 * MIB)
            with pytest.raises(wia.OutOfMemory):
                context.allocate(3 * MIB)
            buffer = pool.allocate(4 * MIB)
            assert context.memory_in_use == 6 * MIB
            buffer.close()
            pool.trim()
            assert context.memory_in_use == 6 * MIB
        assert context.memory_in_use == 0

    def test_max_size(self, context: wia.Context) -> None:
        """Beyond it the error says how much was asked; the pool stays usable."""
        with MemoryPool(context, PoolConfig(max_size=2 * MIB)) as pool:
            held = pool.allocate(MIB)
            with pytest.raises(wia.OutOfMemory, match=r"2,097,152 bytes asked"):
                pool.allocate(2 * MIB)
            held.close()
            assert pool.allocate(2 * MIB).nbytes == 2 * MIB

    def test_fragmentation_past_the_threshold_is_tidied(self, context: wia.Context) -> None:
        """Kept blocks of several sizes go back when no large piece is among them."""
        config = PoolConfig(max_size=4 * MIB, defragment_threshold=0.3)
        with MemoryPool(context, config) as pool:
            held = [pool.allocate(MIB) for _ in range(4)]
            held[0].close()
            assert (pool.stats.fragmentation, pool.stats.defragmentations) == (0, 0)
            held[1].close()
            assert (pool.stats.kept, pool.stats.defragmentations) == (0, 1)
            assert pool.allocate(2 * MIB).nbytes == 2 * MIB


def _wrong(context: wia.Context) -> dict[str, tuple[Any, type[wia.HalError], str]]:
    pool = MemoryPool(context)
    closed = MemoryPool(context)
    closed.close()
    buffer = pool.allocate(64)
    buffer.close()
    return {
        "zero": (lambda: pool.allocate(0), wia.InvalidValue, "at least one byte"),
        "closed": (lambda: closed.allocate(64), wia.Closed, "make another with MemoryPool"),
        "twice": (lambda: context.free(buffer), wia.Closed, "is freed twice"),
        "after": (lambda: buffer.span(), wia.Closed, "is used after it was freed"),
        "share": (
            lambda: PoolConfig(defragment_threshold=30),
            wia.InvalidValue,
            "defragment_threshold is 30: give a share from 0 to 1",
        ),
        "sizes": (
            lambda: PoolConfig(initial_size="2GiB", max_size="1GiB"),
            wia.InvalidValue,
            "from 0 to the largest one",
        ),
        "too much": (
            lambda: MemoryPool(context, PoolConfig(initial_size="1TiB")),
            wia.OutOfMemory,
            "1,099,511,627,776 bytes asked",
        ),
        "host": (lambda: pool.allocate(64).host(), wia.AccessRefused, "is device memory"),
    }


@pytest.mark.parametrize(
    "case", ["zero", "closed", "twice", "after", "share", "sizes", "too much", "host"]
)
def test_wrong_use(context: wia.Context, case: str) -> None:
    """One sentence each; the context goes on."""
    act, kind, message = _wrong(context)[case]
    with pytest.raises(kind) as caught:
        act()
    assert message in str(caught.value)
    assert context.allocate(64, MemoryKind.DEVICE).nbytes == 64


def test_a_context_closes_its_pools(context: wia.Context) -> None:
    """The device has all of its memory again."""
    other = wia.Context(context.device)
    pool = MemoryPool(other, PoolConfig(initial_size=MIB))
    buffer = pool.allocate(64)
    other.close()
    assert pool.is_closed
    assert buffer.is_closed
    assert context.device.memory.statistics.live_bytes == 0
