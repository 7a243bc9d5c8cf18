"""A cost for teaching: which resource bounds a launch, and roughly how long it would take.

The model is a roofline with one ceiling a resource, and one chain of latencies. Blocks spread
evenly over the multiprocessors; every resource is busy for its work divided by its rate, all of
them at the same time; the longest decides. Beside them stands *latency*: the time in which one
block after another runs through a multiprocessor when each warp waits for each of its memory
accesses in turn. With few warps, that is longer than any resource is busy.

Left out: what the compiler merges or reorders, cache hits in L1, tails, clock changes. So use it
to order variants of one kernel, not to predict a time; no grade depends on it. Rates of the units
are those of the CUDA programming guide's table of arithmetic throughput; latencies are rounded
from published microbenchmarks (Jia et al., arXiv 1804.06826; Luo et al., arXiv 2402.13499).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wia_lab.machines import Device
    from wia_lab.simt.counts import Counts

SECTOR = 32  # bytes
ISSUE_RATE = 4  # warp instructions a cycle and multiprocessor: four schedulers
SHARED_RATE = 1  # wavefronts a cycle and multiprocessor
L1_RATE = 4  # sectors a cycle and multiprocessor
L2_RATE = 2  # sectors a cycle and multiprocessor that L2 delivers: 64 bytes
SPECIAL_RATE = 16  # lanes a cycle and multiprocessor
INTEGER_RATE = 64
CONVERSION_RATE = 16

GLOBAL_LATENCY = 600  # cycles, from DRAM
SHARED_LATENCY = 30
ATOMIC_LATENCY = 300
BARRIER_LATENCY = 20
ARITHMETIC_LATENCY = 4
IN_FLIGHT = 2  # global loads of a warp that wait together: compilers issue some before a use


@dataclass(frozen=True, slots=True)
class Cost:
    """What a launch would cost on `device`.

    Attributes
    ----------
    cycles : float
        Of the multiprocessors' clock.
    seconds : float
        `cycles` over the boost clock; the launch itself (some 5 µs) is not in it.
    bound_by : str
        The longest of `parts`.
    parts : dict of str to float
        Cycles of each: "memory", "L2 cache", "L1 cache", "shared memory", "arithmetic", "issue",
        "latency".
    occupancy : float
        Warps that fit on a multiprocessor together, of those that it can hold.
    """

    device: str
    cycles: float
    seconds: float
    bound_by: str
    parts: Mapping[str, float]
    occupancy: float


def estimate(
    counters: Counts,
    device: Device,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    dram_bytes: int,
    shared_bytes: int = 0,
) -> Cost:
    """Cost of a launch that counted `counters`.

    Parameters
    ----------
    dram_bytes : int
        Bytes that must come from or go to memory at least once: distinct sectors loaded and stored.
    shared_bytes : int
        Shared memory a block.
    """
    blocks = prod(grid)
    busy = min(blocks, device.multiprocessors)
    resident = resident_blocks(device, prod(block), shared_bytes)
    parts = {
        "memory": dram_bytes / device.memory_bandwidth * device.clock,
        "L2 cache": _l1_sectors(counters) / (L2_RATE * busy),
        "L1 cache": _l1_sectors(counters) / (L1_RATE * busy),
        "shared memory": _wavefronts(counters) / (SHARED_RATE * busy),
        "arithmetic": _arithmetic_cycles(counters, device) / busy,
        "issue": counters.warp_instructions / (ISSUE_RATE * busy),
        "latency": _latency(counters, device, blocks, prod(block), resident),
    }
    bound_by = max(parts, key=lambda part: parts[part])
    cycles = parts[bound_by]
    warps = resident * _warps(prod(block))
    return Cost(
        device.name,
        cycles,
        cycles / device.clock,
        bound_by,
        parts,
        min(1.0, warps * device.warp_size / device.threads_per_multiprocessor),
    )


def resident_blocks(device: Device, threads: int, shared_bytes: int) -> int:
    """Blocks that fit on one multiprocessor together; registers are not looked at."""
    by_threads = device.threads_per_multiprocessor // (_warps(threads) * device.warp_size)
    limit = min(by_threads, device.blocks_per_multiprocessor)
    if shared_bytes:
        reserved = shared_bytes + 1024 if device.compute_capability >= (8, 0) else shared_bytes
        limit = min(limit, device.shared_per_multiprocessor // reserved)
    return max(limit, 1)


def _warps(threads: int) -> int:
    return ceil(threads / 32)


def _l1_sectors(counters: Counts) -> int:
    return (
        counters.global_load_sectors
        + counters.global_store_sectors
        + counters.global_atomic_sectors
    )


def _wavefronts(counters: Counts) -> int:
    return (
        counters.shared_load_wavefronts
        + counters.shared_store_wavefronts
        + counters.shared_atomic_wavefronts
        + counters.async_copy_shared_wavefronts
    )


def _arithmetic_cycles(counters: Counts, device: Device) -> float:
    """Cycles of one multiprocessor for all arithmetic, the kinds of unit one after another.

    The data sheet's FLOP rates count a multiply-add as two, hence the division by two.
    """
    per_cycle = device.multiprocessors * device.clock * 2
    return (
        counters.float32_operations / (device.float32_rate / per_cycle)
        + counters.float16_operations / (device.float32_rate / per_cycle)
        + counters.float64_operations / (device.float64_rate / per_cycle)
        + (counters.integer_operations + counters.logic_operations) / INTEGER_RATE
        + counters.special_operations / SPECIAL_RATE
        + counters.conversion_operations / CONVERSION_RATE
    )


def _latency(counters: Counts, device: Device, blocks: int, threads: int, resident: int) -> float:
    """Cycles of one warp's chain, times the rounds of blocks that a multiprocessor runs."""
    warps = blocks * _warps(threads)
    chain = (
        (counters.global_load_requests - counters.async_copy_requests) * GLOBAL_LATENCY / IN_FLIGHT
        + counters.async_copies * GLOBAL_LATENCY / (2 * IN_FLIGHT)
        + (counters.shared_load_requests + counters.constant_loads) * SHARED_LATENCY
        + counters.atomics * ATOMIC_LATENCY
        + counters.barriers * BARRIER_LATENCY
        + counters.warp_instructions * ARITHMETIC_LATENCY
    ) / warps
    return chain * ceil(blocks / (device.multiprocessors * resident))
