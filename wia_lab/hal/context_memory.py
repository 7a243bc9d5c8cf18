"""What a context has of its device's memory, and of the host's: buffers, and the books on them."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from wia_lab import errors
from wia_lab.cuda.policy import caller_site
from wia_lab.hal.buffer import Buffer, Part
from wia_lab.hal.checks import Owner, checked, checked_name, checked_size, refuse
from wia_lab.hal.errors import AccessRefused, Closed, InvalidValue
from wia_lab.hal.exhaustion import exhausted
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.placing import check_mapped, check_node
from wia_lab.memory import Heap, Limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from wia_lab.hal.backends.base import Backend
    from wia_lab.hal.context import Context
    from wia_lab.hal.context_config import ContextConfig
    from wia_lab.hal.device import Device
    from wia_lab.hal.pool import MemoryPool
    from wia_lab.memory import Block
    from wia_lab.timeline import Site


class MemoryHolder(Owner):
    """The part of a context that allocates and frees.

    Attributes
    ----------
    memory_peak : int
        The most that `memory_in_use` has been; may be set back.
    device_memory : wia_lab.memory.Limit
        Of which its buffers and pools take theirs.
    pools : list of MemoryPool
        Those that are open.
    generation : int
        How often something that kernels reach was closed, or the device lost.
    """

    def __init__(self, device: Device, config: ContextConfig) -> None:
        self.device, self.config = device, config
        self.backend: Backend = device.machine.backend
        self._buffers: dict[int, _Held] = {}
        self.pools: list[MemoryPool] = []
        self.generation = 0
        self._made = 0
        self.memory_peak = 0
        self._pool: Block | None = None
        self._reserve: Any = None
        source = device.memory
        if config.memory_pool_size is not None:
            self._pool = self._reserved(checked_size("pool", config.memory_pool_size))
            source = Heap(self._pool.size)
        limit = config.memory_limit
        most = source.capacity if limit is None else checked_size("limit", limit)
        self.device_memory = Limit(source, most)

    @property
    def _context(self) -> Context:
        """Itself, as its buffers know it."""
        return self  # type: ignore[return-value]

    @property
    def buffers(self) -> list[Buffer]:
        """Those that are open and that somebody still refers to, oldest first."""
        found = (held.reference() for held in self._buffers.values())
        return [buffer for buffer in found if buffer is not None]

    @property
    def memory_limit(self) -> int:
        """Most bytes of device memory that its buffers may have together; may be set."""
        return self.device_memory.limit

    @memory_limit.setter
    def memory_limit(self, limit: int | str) -> None:
        self.device_memory.limit = checked_size("memory_limit", limit)

    @property
    def memory_in_use(self) -> int:
        """Bytes of device memory that its buffers have."""
        return self.device_memory.live

    def allocate(
        self,
        size: int | str,
        kind: MemoryKind = MemoryKind.DEVICE,
        *,
        name: str | None = None,
        numa_node: int | None = None,
        mapped: bool = False,
    ) -> Buffer:
        """A buffer of `size` bytes, or text such as "2MiB", undefined at first.

        `numa_node` is the socket near which host or pinned memory shall lie; `device.numa_node` is
        the one from which copies to a device cross no other. None: where the program runs.
        `mapped` lets kernels read and write pinned memory where it is, over the link.

        Raises
        ------
        InvalidValue
            A size of zero or less; a socket that the machine has not, or for other memory; other
            memory than pinned that is to be mapped.
        OutOfMemory
            Device memory, or the context's limit, is exhausted. The context stays usable.
        """
        self.check_open()
        nbytes = checked_size("allocate: size", size)
        checked("allocate: kind", kind, MemoryKind, "give a MemoryKind, as MemoryKind.PINNED")
        if kind.migrates and not self.device.capabilities.supports_unified_memory:
            raise AccessRefused(
                f"allocate: {kind} on {self.device!r}, whose capabilities have no unified memory: "
                "allocate device memory, and pinned memory to copy from"
            )
        checked_name("allocate: name", name)
        check_node(self.device, kind, numa_node)
        check_mapped(kind, mapped)
        try:
            block = self.device_memory.allocate(nbytes) if kind.on_device else None
        except errors.AllocatorError as error:
            raise exhausted(self, nbytes, error) from error
        self.memory_peak = max(self.memory_peak, self.memory_in_use)
        self._made += 1
        name = name or f"{kind.value} memory {self._made}"
        try:
            made = Buffer(self._context, kind, nbytes, name, block, numa_node, mapped=mapped)
        except BaseException as error:
            if block is not None:
                self.device_memory.free(block)
            if isinstance(error, errors.AllocatorError):
                raise exhausted(self, nbytes, error) from error
            raise
        return self._entered(made, block)

    def make_storage(
        self, nbytes: int, kind: MemoryKind, name: str, numa_node: int | None, block: Block | None
    ) -> Any:
        """Bytes for a buffer, out of what the context reserved if `block` is part of that."""
        if block is not None and self._reserve is not None:
            return self.backend.part(self._reserve, block.offset, nbytes, name)
        return self.backend.allocate(nbytes, kind, self.device.number, name, numa_node)

    def adopt(
        self, nbytes: int, block: Block, pool: MemoryPool, *, name: str | None, storage: Any
    ) -> Buffer:
        """A buffer over a block of a pool of this context, for that pool to hand out."""
        self.memory_peak = max(self.memory_peak, self.memory_in_use)
        self._made += 1
        name = name or f"pooled memory {self._made}"
        kind = MemoryKind.DEVICE
        made = Buffer(self._context, kind, nbytes, name, block, pool=pool, storage=storage)
        return self._entered(made, block)

    def _entered(self, buffer: Buffer, block: Block | None) -> Buffer:
        buffer.number = self._made
        # Bytes of a virtual machine need nobody to free them: they go with the last to refer to
        # them, work in a stream included, so that results that were dropped take no memory.
        storage = None if self.backend.is_virtual else buffer.storage
        held = _Held(weakref.ref(buffer), block, buffer.pool, storage, buffer.kernel_access)
        self._buffers[buffer.number] = held
        return buffer

    def free(self, buffer: Buffer) -> None:
        """Give a buffer back, once the work submitted to this context's streams has ended.

        What failed there is raised when it has been given back.

        Raises
        ------
        Closed
            When it was freed before.
        """
        if isinstance(buffer, Part):
            refuse("free: buffer", buffer, f"free all of it, {buffer.buffer.name}")
        checked("free: buffer", buffer, Buffer, "give what allocate returned")
        if buffer.context is not self:
            raise InvalidValue(f"{buffer!r} is of {buffer.context!r}: free it there")
        if buffer.is_closed:
            raise Closed(f"{buffer.name} is freed twice, first on {buffer.freed_at}: free it once")
        site = caller_site()
        if buffer.pool is None:
            self.after_waiting(lambda: self.release(buffer, site))
        else:
            self.release(buffer, site)

    def release(self, buffer: Buffer, site: Site) -> None:
        """Give a buffer back without a check or a wait; `site` is where it was freed."""
        buffer.freed_at = site
        self._give_back(buffer.number)

    def take_back(self, pool: MemoryPool) -> list[Block]:
        """The blocks of a pool's buffers, all of which are closed by this; without a wait."""
        site, blocks = caller_site(), []
        for number, held in list(self._buffers.items()):
            if held.pool is pool and held.block is not None:
                if (buffer := held.reference()) is not None:
                    buffer.freed_at = site
                del self._buffers[number]
                self.generation += 1
                blocks.append(held.block)
        return blocks

    def collect(self) -> int:
        """Free the buffers that nobody refers to any more, and what pools keep; returns the bytes.

        A buffer that is dropped without `close` keeps its memory until then: a device may still be
        at work on it, which only a wait can tell.
        """
        self.check_open()
        gc.collect()
        dropped = [number for number, held in self._buffers.items() if not held.reference()]
        before = self.memory_in_use

        def give_back() -> None:
            for number in dropped:
                self._give_back(number)

        if dropped:
            self.after_waiting(give_back)
        for pool in self.pools:
            pool.trim()
        return before - self.memory_in_use

    def after_waiting(self, give_back: Callable[[], None]) -> None:
        """Wait for all streams, give back, and only then raise what failed in one of them.

        With a lost device there is nothing to give back.
        """
        failed = self.settled()
        if self.device.lost is None:
            give_back()
        if failed is not None:
            raise failed

    def settled(self) -> Exception | None:
        """Let the host wait for all streams; what failed first in them, for the caller to raise."""
        raise NotImplementedError

    def _give_all_back(self) -> None:
        site = caller_site()
        for pool in list(self.pools):
            pool.give_all_back()
        for buffer in self.buffers:
            buffer.freed_at = site
        for number in list(self._buffers):
            self._give_back(number)
        if self._reserve is not None:
            self.backend.release(self._reserve)
        if self._pool is not None:
            self.device.memory.free(self._pool)

    def _give_back(self, number: int) -> None:
        held = self._buffers.pop(number)
        if held.kernel_access:
            self.generation += 1
        if held.pool is not None and held.block is not None:
            held.pool.give_back(held.block)
            return
        if held.storage is not None:
            self.backend.release(held.storage)
        if held.block is not None:
            self.device_memory.free(held.block)

    def _reserved(self, size: int) -> Block:
        """Memory for the context's buffers alone, in the device's books and on the device."""
        try:
            block = self.device.memory.allocate(size)
        except errors.AllocatorError as error:
            raise exhausted(self, size, error) from error
        try:
            self._reserve = self.backend.reserve(block.size, self.device.number)
        except errors.AllocatorError as error:
            self.device.memory.free(block)
            raise exhausted(self, size, error) from error
        return block


class _Held(NamedTuple):
    """What the context keeps of a buffer, whose owner may forget it."""

    reference: weakref.ref[Buffer]
    block: Block | None
    pool: MemoryPool | None
    storage: Any  # where the back end must be told that nobody uses it any more
    kernel_access: bool
