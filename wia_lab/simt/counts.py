"""What is counted: of a launch, of a line, and of one array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Counts:
    """What a kernel, or one line of it, did. Warp-level executions unless the name says more.

    Global loads include asynchronous copies, which are also counted on their own.
    """

    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_ideal_sectors: int = 0  # ⌈distinct bytes / 32⌉, summed over requests
    global_load_bytes: int = 0  # of all lanes
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_ideal_sectors: int = 0
    global_store_bytes: int = 0
    global_atomic_requests: int = 0
    global_atomic_sectors: int = 0
    global_atomic_ideal_sectors: int = 0
    global_atomic_bytes: int = 0
    async_copy_requests: int = 0  # copies that read something: not all lanes are zero-filled
    async_copy_sectors: int = 0
    async_copy_ideal_sectors: int = 0
    async_copy_bytes: int = 0  # read from global memory; zero-filled lanes read nothing
    shared_load_requests: int = 0
    shared_load_wavefronts: int = 0
    shared_load_bank_conflicts: int = 0
    shared_load_bytes: int = 0
    shared_store_requests: int = 0
    shared_store_wavefronts: int = 0
    shared_store_bank_conflicts: int = 0
    shared_store_bytes: int = 0
    shared_atomic_requests: int = 0
    shared_atomic_wavefronts: int = 0
    shared_atomic_bank_conflicts: int = 0
    shared_atomic_bytes: int = 0
    async_copies: int = 0
    async_copy_shared_wavefronts: int = 0
    async_copy_shared_bank_conflicts: int = 0
    async_copy_shared_bytes: int = 0
    atomics: int = 0
    local_loads: int = 0
    local_stores: int = 0
    constant_loads: int = 0
    divergent_branches: int = 0  # warps whose lanes went both ways
    barriers: int = 0
    warp_syncs: int = 0  # syncwarp, shuffles, votes, match
    fences: int = 0
    warp_instructions: int = 0
    thread_instructions: int = 0
    integer_operations: int = 0  # from here on: of all lanes
    float16_operations: int = 0
    float32_operations: int = 0
    float64_operations: int = 0
    special_operations: int = 0  # square roots, exponentials, sines
    conversion_operations: int = 0
    logic_operations: int = 0
    control_operations: int = 0

    @property
    def shared_accesses(self) -> int:
        """Loads, stores and atomics of shared memory, warp-level."""
        return self.shared_load_requests + self.shared_store_requests + self.shared_atomic_requests

    @property
    def active_lanes(self) -> float:
        """Mean lanes that executed an instruction: 32 where no warp was split or partial."""
        if not self.warp_instructions:
            return 0.0
        return self.thread_instructions / self.warp_instructions

    @property
    def load_sectors_per_request(self) -> float:
        """Sectors a global load request: 4 at best for 4-byte elements."""
        return self.global_load_sectors / max(self.global_load_requests, 1)

    @property
    def store_sectors_per_request(self) -> float:
        """Sectors a global store request: 4 at best for 4-byte elements."""
        return self.global_store_sectors / max(self.global_store_requests, 1)


@dataclass(frozen=True, slots=True)
class ArrayTraffic:
    """How much of one global array the launch touched, each byte once.

    `loaded_sectors` are the different 32-byte sectors that hold the loaded bytes;
    `ideal_load_sectors`, the fewest that could hold so many bytes. `lines` has the counters of each
    line of the kernel's own file.
    """

    name: str
    nbytes: int
    loaded_bytes: int
    loaded_sectors: int
    stored_bytes: int
    stored_sectors: int
    counters: Counts
    lines: Mapping[int, Counts] = field(default_factory=dict, repr=False, compare=False)

    @property
    def ideal_load_sectors(self) -> int:
        """⌈distinct bytes loaded / 32⌉."""
        return -(-self.loaded_bytes // 32)

    @property
    def ideal_store_sectors(self) -> int:
        """⌈distinct bytes stored / 32⌉."""
        return -(-self.stored_bytes // 32)
