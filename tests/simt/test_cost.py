"""The cost model: what bounds a launch, and which variant is dearer."""

from __future__ import annotations

import pytest

from wia_lab.machines import DEVICES, device
from wia_lab.simt.cost import estimate, resident_blocks
from wia_lab.simt.counts import Counts

H200 = device("H200")
GRID, BLOCK = (4096, 1, 1), (256, 1, 1)


def copied(sectors_a_request: int) -> Counts:
    """A copy of 2^20 float32, its loads strided."""
    requests = 4096 * 8
    return Counts(
        global_load_requests=requests,
        global_load_sectors=requests * sectors_a_request,
        global_store_requests=requests,
        global_store_sectors=requests * 4,
        warp_instructions=requests * 10,
    )


class TestBounds:
    """The longest of the parts bounds the launch."""

    def test_cycles_are_those_of_the_bound(self) -> None:
        """`cycles` is the largest part and `seconds` its time at the boost clock."""
        cost = estimate(copied(4), H200, GRID, BLOCK, dram_bytes=1 << 23)
        assert cost.cycles == max(cost.parts.values()) == cost.parts[cost.bound_by]
        assert cost.seconds == pytest.approx(cost.cycles / H200.clock)

    def test_memory(self) -> None:
        """A large copy takes its bytes over the bandwidth of the data sheet."""
        cost = estimate(copied(4), H200, GRID, BLOCK, dram_bytes=1 << 30)
        assert cost.bound_by == "memory"
        assert cost.seconds == pytest.approx((1 << 30) / 4.8e12)

    def test_shared_memory(self) -> None:
        """Conflicts move the bound to shared memory: 32 wavefronts for one."""
        counts = Counts(shared_load_requests=1 << 16, shared_load_wavefronts=1 << 21)
        cost = estimate(counts, H200, (256, 1, 1), BLOCK, dram_bytes=1 << 10)
        assert cost.bound_by == "shared memory"
        assert cost.cycles == (1 << 21) / 132

    def test_arithmetic(self) -> None:
        """2^30 float32 operations take that many over half the FLOP rate."""
        counts = Counts(float32_operations=1 << 30, warp_instructions=1 << 24)
        cost = estimate(counts, H200, GRID, BLOCK, dram_bytes=0)
        assert cost.bound_by == "arithmetic"
        assert cost.seconds == pytest.approx((1 << 30) / (67e12 / 2), rel=1e-6)

    def test_latency(self) -> None:
        """One warp that loads a thousand times in turn is bound by latency."""
        counts = Counts(global_load_requests=1000, global_load_sectors=4000)
        cost = estimate(counts, H200, (1, 1, 1), (32, 1, 1), dram_bytes=128_000)
        assert cost.bound_by == "latency"


class TestOrder:
    """A worse variant costs more."""

    def test_strides(self) -> None:
        """Each doubling of the stride, up to 8, costs more where L2 serves the sectors."""
        cycles = [
            estimate(copied(sectors), H200, GRID, BLOCK, dram_bytes=1 << 23).parts["L2 cache"]
            for sectors in (4, 8, 16, 32)
        ]
        assert cycles == sorted(cycles)
        assert len(set(cycles)) == 4

    def test_float64_on_a_consumer_card(self) -> None:
        """float64 costs 64 times float32 on an RTX 4090, twice on an H100."""
        single = Counts(float32_operations=1 << 30)
        double = Counts(float64_operations=1 << 30)
        for name, ratio in (("RTX 4090", 64), ("H100", 2)):
            sheet = DEVICES[name]
            one, two = (
                estimate(each, sheet, GRID, BLOCK, 0).parts["arithmetic"]
                for each in (single, double)
            )
            assert two / one == pytest.approx(ratio, rel=0.03)


class TestOccupancy:
    """Blocks that fit together."""

    @pytest.mark.parametrize(
        ("threads", "shared", "blocks"),
        [(256, 0, 8), (1024, 0, 2), (32, 0, 32), (256, 100 * 1024, 2), (100, 0, 16)],
    )
    def test_h200(self, threads: int, shared: int, blocks: int) -> None:
        """Threads (in whole warps), blocks and shared memory each limit them.

        2,048 threads, 32 blocks, 228 KB of which each block reserves 1 KB: CUDA programming guide.
        """
        assert resident_blocks(H200, threads, shared) == blocks
