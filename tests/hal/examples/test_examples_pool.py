"""§3.5.2 of the documents, put right: memory that is kept when it is freed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import wia_lab.hal as wia

if TYPE_CHECKING:
    import numpy as np

MIB = 1 << 20
CONFIG = wia.PoolConfig(
    initial_size=512 * MIB,
    max_size=2048 * MIB,
    block_size=256,
    caching=True,
    defragment_threshold=0.3,
)
ROUNDS, TENSOR = 1000, 100_000


def compute(data: np.ndarray) -> None:
    """A kernel: one more."""
    data[:] += 1


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H200."""
    with wia.Context(wia.open_machine("H200")[0]) as made:
        yield made


def test_efficient_allocation(context: wia.Context, on_hardware: bool) -> None:
    """Allocated for the stream that computes: nobody waits, and all but the first are hits."""
    stream = context.create_stream()
    with wia.MemoryPool(context, CONFIG) as pool:
        begin = context.backend.now()
        for _ in range(ROUNDS):
            with pool.allocate(TENSOR, stream=stream) as memory:
                stream.submit(compute, memory, seconds=1e-3)
        if not on_hardware:
            assert context.backend.now() - begin < 1e-3 * ROUNDS
            assert not stream.is_done
        stats = pool.stats
        assert stats.num_allocations == ROUNDS
        assert stats.cache_hit_rate == pytest.approx(1 - 1 / ROUNDS)
        assert stats.reserved == 512 * MIB
        assert stats.in_use == 0
        assert stats.peak_in_use == stats.kept
        assert stats.kept >= TENSOR
        assert stats.kept % 256 == 0
    assert context.memory_in_use == 0


def test_without_a_stream_every_round_waits(context: wia.Context, on_hardware: bool) -> None:
    """As the document has it, a free cannot know what still runs, so it waits for everything."""
    stream = context.create_stream()
    with wia.MemoryPool(context, CONFIG) as pool:
        begin = context.backend.now()
        for _ in range(10):
            with pool.allocate(TENSOR) as memory:
                stream.submit(compute, memory, seconds=1e-3)
        assert on_hardware or context.backend.now() - begin >= 10e-3
        assert pool.stats.cache_hit_rate == pytest.approx(0.9)


def test_the_values_are_not_kept_apart(context: wia.Context) -> None:
    """What comes back from a pool holds what it held: whoever needs zeros writes them."""
    stream = context.create_stream()
    with wia.MemoryPool(context, CONFIG) as pool:
        host = context.allocate(256, wia.MemoryKind.PINNED)
        host.host(access="write")[:] = 41
        with pool.allocate(256, stream=stream) as memory:
            stream.copy(memory, host)
        with pool.allocate(256, stream=stream) as memory:
            stream.submit(compute, memory, seconds=1e-6)
            stream.copy(host, memory)
        stream.synchronize()
        assert set(host.host(access="read")) == {42}


def test_limits(context: wia.Context) -> None:
    """More than max_size is refused, and the pool goes on."""
    with wia.MemoryPool(context, CONFIG) as pool:
        with pytest.raises(wia.OutOfMemory):
            pool.allocate(3 << 30)
        pool.allocate(TENSOR).close()
        assert pool.stats.num_allocations == 1
