"""Small promises of the standard's names that no test of a larger thing makes on its way."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import wia_lab.hal as wia
from wia_lab.errors import OutOfMemoryError, SizeError
from wia_lab.memory import Buddy, Compacting, Counted, Heap, HostBacking, Pool, Slab, Track


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On the first of two H100s."""
    with wia.Context(wia.open_machine("2xH100-nvlink")[0]) as made:
        yield made


@pytest.fixture(params=["host", "device"])
def heap(request: pytest.FixtureRequest) -> Callable[[int], Heap]:
    """A heap of so many bytes, behind which lies memory of the host or of a device."""

    def made(nbytes: int) -> Heap:
        if request.param == "host":
            return Heap(nbytes, backing=HostBacking(nbytes))
        context: wia.Context = request.getfixturevalue("context")
        memory = context.allocate(nbytes)
        return Heap(nbytes, backing=wia.DeviceBacking(memory, context.create_stream()))

    return made


def a_kernel(_: wia.Context) -> wia.Kernel:
    """Of a text."""
    return wia.compile_kernel("__kernel void fill(__global int* a) { a[get_global_id(0)] = 1; }")


def a_barrier(context: wia.Context) -> wia.PeerBarrier:
    """Of this context and its neighbour, waited at."""
    other = wia.Context(context.device.machine[1])
    barrier = wia.PeerBarrier([context.create_stream(), other.create_stream()])
    barrier.wait()
    return barrier


def a_fence(context: wia.Context) -> wia.Fence:
    """Behind a stream's work."""
    fence = wia.Fence(context)
    stream = context.create_stream()
    stream.submit(lambda: None, seconds=1.0)
    fence.submit(stream)
    return fence


def a_profiler(context: wia.Context) -> wia.Profiler:
    """One that has ended."""
    with wia.Profiler(context) as profiler:
        pass
    return profiler


@pytest.mark.parametrize(
    "make",
    [lambda context: context.create_stream().record(), a_fence, a_barrier, a_profiler],
    ids=["event", "fence", "barrier", "profiler"],
)
def test_what_needs_no_destroying(context: wia.Context, make: Callable[[wia.Context], Any]) -> None:
    """It has no memory of the device's, and its context works on once it is gone."""
    made = weakref.ref(make(context))
    assert context.memory_in_use == 0
    context.synchronize()
    gc.collect()
    assert made() is None
    context.synchronize()


def test_a_kernel_needs_no_destroying(context: wia.Context) -> None:
    """It has no memory of the device's, before and after a launch."""
    kernel = a_kernel(context)
    with wia.zeros(context, 4, "int32") as tensor:
        wia.launch_kernel(kernel, wia.LaunchConfig(1, 4), tensor)
        assert tensor.numpy().tolist() == [1, 1, 1, 1]
    assert context.memory_in_use == 0


def test_an_event_of_ones_own(context: wia.Context, on_hardware: bool) -> None:
    """It is made first and recorded later, in a stream; another stream waits for it."""
    event, (first, second) = (
        context.create_event("transfer done"),
        (context.create_stream(), context.create_stream()),
    )
    assert not event.is_recorded
    first.submit(lambda: None, seconds=1.0)
    first.record(event)
    second.wait(event)
    second.submit(lambda: None, seconds=0.5)
    second.synchronize()
    assert event.is_recorded
    assert on_hardware or context.backend.now() == pytest.approx(1.5, abs=1e-3)


def test_type_of_a_device(context: wia.Context, on_hardware: bool) -> None:
    """As text; the name is the data sheet's."""
    assert context.device.info.type.value == "gpu"
    assert on_hardware or context.device.info.name == "H100"
    assert context.device.info.name


def test_shared_memory_of_a_launch(context: wia.Context) -> None:
    """The launch's bytes are what the text's __local pointer has: its last element is there."""
    kernel = wia.compile_kernel(
        "__kernel void last(__global int* out, __local int* s, int n) {\n"
        "    s[n - 1 - get_local_id(0)] = get_local_id(0);\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    out[get_local_id(0)] = s[get_local_id(0)];\n"
        "}"
    )
    with wia.empty(context, 64, "int32") as out:
        config = wia.LaunchConfig(1, 64, shared_memory=64 * 4)
        wia.launch_kernel(kernel, config, out, 64)
        assert out.numpy().tolist() == list(range(63, -1, -1))


def test_tensors_of_either_memory(context: wia.Context) -> None:
    """`empty` takes the kind; device memory is what it takes without one."""
    with (
        wia.empty(context, 3, memory=wia.MemoryKind.UNIFIED) as unified,
        wia.empty(context, 3) as own,
    ):
        assert (unified.memory, own.memory) == (wia.MemoryKind.UNIFIED, wia.MemoryKind.DEVICE)
        assert (own.nbytes, context.memory_in_use) == (12, 256)  # in granules of 256 B


def test_buddies(heap: Callable[[int], Heap]) -> None:
    """256 of 1,024 is a block of 256; what is free are 256 and 512; freed, all is one again."""
    buddy = Buddy(heap(1024), 1024, minimum=64)
    assert [buddy.order_of(size) for size in (1, 64, 65, 256, 257)] == [0, 0, 1, 2, 3]
    found = buddy.explain(200)
    block = buddy.allocate(200)
    assert (block.offset, block.size) == (found.offset, found.granted) == (0, 256)
    assert buddy.block_at(0) is block
    assert [(each.offset, each.size, each.state) for each in buddy.regions()] == [
        (0, 256, "live"),
        (256, 256, "free"),
        (512, 512, "free"),
    ]
    buddy.free(block)
    assert [(each.size, each.state) for each in buddy.regions()] == [(1024, "free")]


def test_slabs(heap: Callable[[int], Heap]) -> None:
    """256 objects lie in one arena, the 257th in another; a freed object is next to be used."""
    slab = Slab(heap(1 << 20), 48)
    assert (slab.object_size, slab.objects_per_arena) == (48, 256)
    blocks = [slab.allocate(48) for _ in range(257)]
    assert len({block.offset for block in blocks}) == 257
    assert slab.statistics.reserved_bytes == 2 * 256 * 48
    slab.free(blocks[7])
    assert (blocks[7].offset, 48, "free") in [
        (each.offset, each.size, each.state) for each in slab.regions()
    ]
    with pytest.raises(SizeError):
        slab.allocate(49)
    small = Slab(heap(512), 256, objects_per_arena=2)
    held = [small.allocate(256), small.allocate(256)]
    with pytest.raises(OutOfMemoryError):
        small.allocate(256)
    assert len(held) == 2


def test_a_pools_books(heap: Callable[[int], Heap]) -> None:
    """Taken from below, most ever taken, and kept for reuse, by hand."""
    pool = Pool(heap(1 << 20))
    one, two = pool.allocate(1024), pool.allocate(2048)
    pool.free(one)
    now = pool.statistics
    assert (now.reserved_bytes, now.cached_bytes, now.peak_reserved_bytes) == (3072, 1024, 3072)
    assert (one.offset, 1024, "cached") in [
        (each.offset, each.size, each.state) for each in pool.regions()
    ]
    assert pool.classes.size(pool.classes.index(1000)) == 1024
    pool.free(two)
    pool.trim()
    now = pool.statistics
    assert (now.reserved_bytes, now.cached_bytes, now.peak_reserved_bytes) == (0, 0, 3072)


def test_a_counted_buffer(heap: Callable[[int], Heap]) -> None:
    """It has a block of its size, in the memory that was given."""
    memory = heap(1 << 20)
    counted = Counted(memory)
    with counted.create(1024) as handle:
        assert counted.upstream is memory
        assert memory.block_at(handle.block.offset) is handle.block
        assert (handle.block.size, handle.count) == (1024, 1)


def test_the_map_of_a_heap(heap: Callable[[int], Heap]) -> None:
    """Blocks in the order of their addresses, from 0 to the end; compaction leaves one hole."""
    memory = Compacting(heap(4096))
    blocks = [memory.allocate(1024) for _ in range(4)]
    memory.free(blocks[0])
    memory.free(blocks[2])
    regions = list(memory.regions())
    assert [(each.offset, each.state) for each in regions] == [
        (0, "free"),
        (1024, "live"),
        (2048, "free"),
        (3072, "live"),
    ]
    assert regions[-1].offset + regions[-1].size == memory.capacity == 4096
    assert (memory.statistics.live_blocks, memory.statistics.largest_free_bytes) == (2, 1024)
    memory.compact()
    assert memory.statistics.largest_free_bytes == 2048
    assert [block.offset for block in memory.blocks()] == [0, 1024]


def test_a_leak_is_a_record(heap: Callable[[int], Heap]) -> None:
    """Where it is, how long, and who allocated it."""
    memory = Track(heap(1 << 20))
    block = memory.allocate(512)
    [leak] = memory.leaks()
    assert (leak.offset, leak.size, leak.site.file) == (block.offset, 512, __file__)
    assert leak.site == memory.site_of(block)
