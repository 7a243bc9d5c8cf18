"""§4.9 of the documents, put right: coalescing, bank conflicts, double buffering."""

from __future__ import annotations

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import cuda, simulate
from wia_lab.hal import MemoryKind

TILE, PADDED = 32, 33


@cuda.jit
def strided_access(out, data, stride):
    """The document's uncoalesced kernel, with its bounds, and a use for the value."""
    gid = cuda.grid(1)
    if gid * stride < data.size:
        out[gid] = data[gid * stride]


@cuda.jit
def columns(out):
    """Each lane reads down a column of the tile: 32 lanes, one bank."""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = y * TILE + x
    cuda.syncthreads()
    out[y, x] = tile[x, y]


@cuda.jit
def padded_columns(out):
    """One column more, and the lanes of a column are in 32 banks."""
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = y * TILE + x
    cuda.syncthreads()
    out[y, x] = tile[x, y]


@cuda.jit
def every_second(out):
    """The document's `shared[lid * 2]`, in an array that is long enough."""
    shared = cuda.shared.array(512, np.float32)
    lid = cuda.threadIdx.x
    shared[lid * 2] = lid
    out[lid] = shared[lid * 2]


class TestCoalescing:
    """Sectors of 32 bytes a request: 8 times as many at worst, not 32 to 128."""

    @pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (4, 16), (8, 32), (32, 32)])
    def test_sectors(self, stride: int, sectors: int) -> None:
        """As Nsight Compute counts them on an H200."""
        data, out = np.arange(8192, dtype=np.float32), np.zeros(8192, np.float32)
        report = simulate(strided_access, 32, 256, out, data, stride)
        count = 8192 // stride
        np.testing.assert_array_equal(out[:count], data[::stride])
        counters = report.counters
        assert report.hazards == ()
        assert counters.global_load_sectors == sectors * counters.global_load_requests
        assert counters.global_load_requests == max(1, count // 32)

    def test_ragged(self) -> None:
        """1,000 elements in blocks of 256: the guard keeps 24 threads off the array."""
        data, out = np.arange(1000, dtype=np.float32), np.zeros(1024, np.float32)
        assert simulate(strided_access, 4, 256, out, data, 1).hazards == ()
        np.testing.assert_array_equal(out[:1000], data)


class TestBanks:
    """32 banks of 4 bytes."""

    def test_every_second_element_is_two_ways(self) -> None:
        """Even banks alone: each access is made twice, for 8 warps."""
        out = np.zeros(256, np.float32)
        counters = simulate(every_second, 1, 256, out).counters
        np.testing.assert_array_equal(out, np.arange(256))
        assert counters.shared_load_bank_conflicts == counters.shared_store_bank_conflicts == 8

    def test_padding_helps_columns(self) -> None:
        """A column of a 32×32 tile costs 32 wavefronts a warp, of a 32×33 tile one."""
        wanted = np.arange(1024, dtype=np.float32).reshape(32, 32).T
        for kernel, conflicts in ((columns, 32 * 31), (padded_columns, 0)):
            out = np.zeros((32, 32), np.float32)
            report = simulate(kernel, 1, (32, 32), out)
            np.testing.assert_array_equal(out, wanted)
            assert report.counters.shared_load_bank_conflicts == conflicts


def compute(data: np.ndarray, result: np.ndarray) -> None:
    """A kernel: one more."""
    result[:] = data + 1


@pytest.mark.parametrize("batches", [1, 2, 3, 8])
def test_double_buffering(batches: int, on_hardware: bool) -> None:
    """Prologue, both directions ordered, no batch too many, a wait at the end; and it overlaps."""
    size, seconds = 1 << 20, 60e-6
    with wia.Context(wia.open_machine("A100")[0]) as context:
        transfer, work = context.create_stream(), context.create_stream()
        buffers = [context.allocate(size) for _ in range(2)]
        results = context.allocate(batches * size, MemoryKind.MANAGED)
        host = context.allocate(batches * size, MemoryKind.PINNED)
        host.host(access="write")[:] = np.repeat(np.arange(batches, dtype=np.uint8), size)
        parts = [slice(i * size, (i + 1) * size) for i in range(batches)]
        used: list[wia.Event] = []
        with wia.Profiler(context) as profiler:
            for i, part in enumerate(parts):
                buffer, result = buffers[i % 2], results[part]
                if i >= 2:
                    transfer.wait(used[i - 2])  # who computes on the buffer must have ended
                transfer.copy(buffer, host[part])
                work.wait(transfer.record())
                work.submit(
                    compute, buffer, result, seconds=seconds, reads=[buffer], writes=[result]
                )
                used.append(work.record())
        got = results.host(access="read").reshape(batches, size)
        assert (got == np.arange(1, batches + 1)[:, None]).all()
        if on_hardware:
            return
        copying = 10e-6 + size / 31.5e9
        report = profiler.report()
        assert report.overlap_ms == pytest.approx((batches - 1) * copying * 1e3, rel=0.05)
        assert report.memory_time_ms == pytest.approx(batches * copying * 1e3, rel=1e-3)
