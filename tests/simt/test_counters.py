"""Counters of hand-made accesses against what Nsight Compute counted on an H200."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab.simt.counters import Counters
from wia_lab.simt.events import Access, AsyncCopy, Chunk, Launch, Site
from wia_lab.simt.inflight import InFlightRecorder
from wia_lab.simt.memory import Space
from wia_lab.simt.report import build_report

SITES = tuple(Site(number, 10 + number, "kernel.py", "kernel") for number in range(8))


def space(name, nbytes, kind="global", number=0, granule=4):
    data = np.zeros(nbytes, np.uint8)
    dtype = np.dtype("float32")
    shape = (nbytes // 4,)
    return Space(kind, name, dtype, shape, (4,), 0, data, nbytes, 0, granule, number=number)


def threads(grid, block):
    """Global x and y, local x and y of each lane, and which lanes are threads."""
    size = block[0] * block[1]
    stride = -(-size // 32) * 32
    blocks = np.repeat(np.arange(grid[0] * grid[1]), stride)
    thread = np.tile(np.arange(stride), grid[0] * grid[1])
    full = thread < size
    tx, ty = thread % block[0], thread // block[0]
    return blocks % grid[0] * block[0] + tx, blocks // grid[0] * block[1] + ty, tx, ty, full


class Segment:
    """A straight piece of code with given operations."""

    def __init__(self, operations) -> None:
        self.operations = operations
        self.site = SITES[0]


def start(grid, block, *listeners):
    lanes = -(-block[0] * block[1] // 32) * 32
    launch = Launch("kernel", "kernel.py", (*grid, 1), (*block, 1), SITES, False, "H200")
    full = threads(grid, block)[-1]
    chunk = Chunk(0, grid[0] * grid[1], lanes, block[0] * block[1], full)
    for listener in listeners:
        listener.on_launch(launch)
        listener.on_chunk(chunk)
    return launch, chunk


class TestGlobal:
    """Requests and sectors of loads and stores."""

    @pytest.mark.parametrize(
        ("stride", "sectors"), [(1, 1024), (2, 2048), (4, 4096), (8, 8192), (32, 8192)]
    )
    def test_strided_loads(self, stride: int, sectors: int) -> None:
        """`o[i] = a[i * s]`, float32, 32 blocks of 256: as the H200 counts."""
        counters = Counters()
        start((32, 1), (256, 1), counters)
        i, *_, full = threads((32, 1), (256, 1))
        a, o = space("a", 8192 * 4 * stride), space("o", 8192 * 4, number=1)
        counters.on_access(Access("load", a, i * stride * 4, 4, full, SITES[0]))
        counters.on_access(Access("store", o, i * 4, 4, full, SITES[1]))
        total = counters.total()
        assert (total.global_load_requests, total.global_load_sectors) == (256, sectors)
        assert (total.global_store_requests, total.global_store_sectors) == (256, 1024)
        assert total.global_load_ideal_sectors == 1024
        assert total.global_load_bytes == 8192 * 4

    def test_rows_of_odd_width(self) -> None:
        """A coalesced copy of 100 × 130 float32 by 16 × 16 blocks: 450 requests, 2,300 sectors."""
        counters = Counters()
        grid, block = (9, 7), (16, 16)
        start(grid, block, counters)
        x, y, _, _, full = threads(grid, block)
        active = full & (x < 130) & (y < 100)
        offsets = np.where(active, (y * 130 + x) * 4, 0)
        counters.on_access(Access("load", space("a", 52000), offsets, 4, active, SITES[0]))
        total = counters.total()
        assert (total.global_load_requests, total.global_load_sectors) == (450, 2300)
        (array,) = counters.arrays()
        assert (array.loaded_bytes, array.ideal_load_sectors) == (52000, 1625)

    def test_each_byte_once(self) -> None:
        """Loading one array twice leaves its distinct bytes and doubles the sectors asked for."""
        counters = Counters()
        start((1, 1), (64, 1), counters)
        a = space("a", 1024)
        for site in SITES[:2]:
            counters.on_access(Access("load", a, np.arange(64) * 8, 4, np.ones(64, bool), site))
        (array,) = counters.arrays()
        assert (array.loaded_bytes, array.loaded_sectors, array.ideal_load_sectors) == (256, 16, 8)
        assert array.stored_bytes == 0
        assert array.counters.global_load_sectors == 32

    def test_records_take_several_instructions(self) -> None:
        """A 12-byte element is three 4-byte requests a warp."""
        counters = Counters()
        start((1, 1), (32, 1), counters)
        counters.on_access(
            Access("load", space("a", 384), np.arange(32) * 12, 12, np.ones(32, bool), SITES[0])
        )
        total = counters.total()
        assert (total.global_load_requests, total.global_load_sectors) == (3, 36)


class TestShared:
    """Wavefronts and conflicts."""

    @pytest.mark.parametrize(("width", "wavefronts"), [(32, 65536), (33, 2048)])
    def test_transpose(self, width: int, wavefronts: int) -> None:
        """256 × 256 through a tile of 32 × `width`, reading columns: as the H200 counts."""
        counters = Counters()
        grid, block = (8, 8), (32, 32)
        _, chunk = start(grid, block, counters)
        _, _, tx, ty, full = threads(grid, block)
        nbytes = -(-32 * width * 4 // 128) * 128
        tile = space("tile", nbytes * 64, "shared")
        instance = np.arange(chunk.lanes) // chunk.stride * nbytes
        counters.on_access(
            Access("store", tile, instance + (ty * width + tx) * 4, 4, full, SITES[0])
        )
        counters.on_access(
            Access("load", tile, instance + (tx * width + ty) * 4, 4, full, SITES[1])
        )
        total = counters.total()
        assert total.shared_store_wavefronts == 2048
        assert total.shared_store_bank_conflicts == 0
        assert total.shared_load_wavefronts == wavefronts
        assert total.shared_load_bank_conflicts == wavefronts - 2048


class TestLines:
    """The same counters a source line."""

    def test_lines_and_lanes(self) -> None:
        """Accesses go to their line; instructions to theirs, with the mean of active lanes."""
        counters = Counters()
        start((1, 1), (64, 1), counters)
        half = np.arange(64) % 32 < 8
        counters.on_segment(Segment({10: {"float32": 2, "load": 1}, 12: {"integer": 1}}), half)
        counters.on_access(Access("load", space("a", 256), np.arange(64) * 4, 4, half, SITES[0]))
        lines = counters.by_line()
        assert [line for _, line in lines] == [10, 12]
        first, second = lines.values()
        assert (first.warp_instructions, first.thread_instructions) == (6, 48)
        assert first.active_lanes == 8
        assert (first.float32_operations, second.integer_operations) == (32, 16)
        assert first.global_load_requests == 2
        assert second.global_load_requests == 0
        assert counters.total().warp_instructions == 8

    def test_branches_barriers_atomics(self) -> None:
        """A branch diverges in the warps that it splits; barriers and atomics count warps."""
        counters = Counters()
        start((1, 1), (96, 1), counters)
        lane = np.arange(96)
        everyone = np.ones(96, bool)
        counters.on_branch(SITES[0], lane < 40, lane >= 40)
        counters.on_barrier(SITES[1], everyone)
        counters.on_access(
            Access("atomic", space("h", 64), lane * 0, 4, lane < 40, SITES[2], operation="add")
        )
        total = counters.total()
        assert (total.divergent_branches, total.barriers, total.atomics) == (1, 3, 2)
        assert (total.global_atomic_requests, total.global_atomic_sectors) == (2, 40)


class TestInFlight:
    """What ran between the issue of an asynchronous copy and its wait."""

    def run(self, compute_line, wait_first: bool):
        recorder, counters = InFlightRecorder(), Counters()
        launch, chunk = start((1, 1), (64, 1), recorder, counters)
        everyone = np.ones(64, bool)
        lane = np.arange(64)
        a, s = space("a", 256), space("s", 256, "shared", 1)
        copy = AsyncCopy(0, a, lane * 4, s, lane * 4, 4, everyone, lane >= 60, SITES[0])
        for listener in (recorder, counters):
            listener.on_async_copy(copy)
            listener.on_async_commit(SITES[1], everyone, {0: everyone})
            if wait_first:
                listener.on_async_wait(SITES[3], everyone, {0: everyone})
            listener.on_segment(Segment({compute_line: {"float32": 3}}), lane < 32)
            listener.on_access(Access("load", a, lane * 4, 4, lane < 5, SITES[2]))
            if not wait_first:
                listener.on_async_wait(SITES[3], everyone, {0: everyone})
            listener.on_chunk_end(chunk)
        return build_report(launch, counters, inflight=recorder)

    def test_overlap(self) -> None:
        """Loads and arithmetic of the copying warps before the wait are in flight."""
        report = self.run(20, wait_first=False)
        (record,) = report.async_timeline
        assert (record.issued, record.committed, record.waited) == (10, 11, 13)
        assert (record.copies, record.nbytes) == (2, 240)
        assert (record.loads, record.arithmetic) == ({12: 1}, {20: 3})
        assert record.overlapped
        assert report.counters.async_copies == 2
        assert report.counters.async_copy_sectors == 8

    def test_waiting_at_once(self) -> None:
        """A wait before the work leaves nothing in flight."""
        (record,) = self.run(20, wait_first=True).async_timeline
        assert not record.overlapped
