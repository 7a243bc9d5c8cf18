"""Contexts (§3.3): what a program holds on one device. There is no current one."""

from __future__ import annotations

import gc
import math
import os
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from wia_lab import errors
from wia_lab.cuda.policy import caller_site
from wia_lab.hal.buffer import Buffer, Part
from wia_lab.hal.checks import (
    Owner,
    checked,
    checked_limit,
    checked_name,
    checked_size,
    checked_timeout,
    configured,
    refuse,
)
from wia_lab.hal.context_config import ContextConfig
from wia_lab.hal.device import Device
from wia_lab.hal.errors import (
    AccessRefused,
    Closed,
    DeviceLost,
    InvalidValue,
)
from wia_lab.hal.exhaustion import exhausted
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.placing import check_free_for, check_node
from wia_lab.hal.profiler import Profiler
from wia_lab.hal.stream import Event, Stream, StreamOptions
from wia_lab.memory import Heap, Limit

if TYPE_CHECKING:
    from types import TracebackType

    from wia_lab.hal.backends.base import Backend
    from wia_lab.hal.pool import MemoryPool
    from wia_lab.memory import Block
    from wia_lab.timeline import Site


class Context(Owner):
    """Memory and streams on one device. Use `with`, or `close`; closing twice is fine.

    Attributes
    ----------
    streams : list of Stream
        Those that are open.
    memory_peak : int
        The most that `memory_in_use` has been; may be set back.
    device_memory : wia_lab.memory.Limit
        Of which its buffers and pools take theirs.
    pools : list of MemoryPool
        Those that are open.
    peers : set of int
        Devices whose memory its kernels were let reach.
    generation : int
        How often something of it was closed, or its device lost.
    process : int
        Number of the process that made it.
    profiler : Profiler or None
        Of a context made with `profiling`; `with context.profiler` watches that stretch alone.
    """

    def __init__(self, device: Device, config: ContextConfig | None = None) -> None:
        self.device = checked("Context: device", device, Device, "give a device, as machine[0] is")
        self.config = configured("Context: config", config, ContextConfig)
        self.backend: Backend = device.machine.backend
        self.streams: list[Stream] = []
        self._buffers: dict[int, _Held] = {}
        self.peers: set[int] = set()
        self.pools: list[MemoryPool] = []
        self._timeout = self.config.timeout
        self.is_closed = False
        self.process = os.getpid()
        self.generation = 0
        self._made = 0
        self.memory_peak = 0
        check_free_for(device, self.config)
        self._pool: Block | None = None
        self._reserve: Any = None
        source = device.memory
        if self.config.memory_pool_size is not None:
            self._pool = self._reserved(checked_size("pool", self.config.memory_pool_size))
            source = Heap(self._pool.size)
        limit = self.config.memory_limit
        most = source.capacity if limit is None else checked_size("limit", limit)
        self.device_memory = Limit(source, most)
        device.contexts.append(self)
        self.profiler: Profiler | None = None
        if profiling := self.config.profiling:
            self.profiler = Profiler(self, profiling if profiling is not True else None)
            self.profiler.begin()

    def __repr__(self) -> str:
        return f"<context on {self.device!r}{', closed' * self.is_closed}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Memory

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
    def timeout(self) -> float | None:
        """As `ContextConfig.timeout`; may be set."""
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._timeout = checked_limit("timeout", seconds)

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
    ) -> Buffer:
        """A buffer of `size` bytes, or text such as "2MiB", undefined at first.

        `numa_node` is the socket near which host or pinned memory shall lie; `device.numa_node` is
        the one from which copies to a device cross no other. None: where the program runs.

        Raises
        ------
        InvalidValue
            A size of zero or less; a socket that the machine has not, or for other memory.
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
        try:
            block = self.device_memory.allocate(nbytes) if kind.on_device else None
        except errors.AllocatorError as error:
            raise exhausted(self, nbytes, error) from error
        self.memory_peak = max(self.memory_peak, self.memory_in_use)
        self._made += 1
        name = name or f"{kind.value} memory {self._made}"
        try:
            made = Buffer(self, kind, nbytes, name, block, numa_node)
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
        made = Buffer(self, kind, nbytes, name, block, pool=pool, storage=storage)
        return self._entered(made, block)

    def _entered(self, buffer: Buffer, block: Block | None) -> Buffer:
        buffer.number = self._made
        held = _Held(weakref.ref(buffer), block, buffer.pool, buffer.storage)
        self._buffers[buffer.number] = held
        return buffer

    def free(self, buffer: Buffer) -> None:
        """Give a buffer back, once the work submitted to this context's streams has ended.

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
        if buffer.pool is None:
            self.settle()
        self.release(buffer, caller_site())

    def release(self, buffer: Buffer, site: Site) -> None:
        """Give a buffer back without a check or a wait; `site` is where it was freed."""
        buffer.freed_at = site
        self._give_back(buffer.number)

    def collect(self) -> int:
        """Free the buffers that nobody refers to any more, and what pools keep; returns the bytes.

        A buffer that is dropped without `close` keeps its memory until then: a device may still be
        at work on it, which only a wait can tell.
        """
        self.check_open()
        gc.collect()
        dropped = [number for number, held in self._buffers.items() if not held.reference()]
        if dropped:
            self.settle()
        before = self.memory_in_use
        for number in dropped:
            self._give_back(number)
        for pool in self.pools:
            pool.trim()
        return before - self.memory_in_use

    def wait_for(self, handle: Any, timeout: float | None) -> bool:
        """Wait for a stream's or an event's handle; False when `timeout` seconds did not do.

        A loss of the device that comes to light here is remembered.
        """
        try:
            return self.backend.synchronize(handle, None if timeout == math.inf else timeout)
        except DeviceLost as error:
            self.device.lost = error
            self.generation += 1
            raise

    def settle(self) -> None:
        """Let the host wait for all streams, whatever the context's timeout."""
        for stream in self.streams:
            self.wait_for(stream.handle, None)

    def _give_back(self, number: int) -> None:
        self.generation += 1
        held = self._buffers.pop(number)
        if held.pool is not None and held.block is not None:
            held.pool.give_back(held.block)
            return
        self.backend.release(held.storage)
        if held.block is not None:
            self.device_memory.free(held.block)

    # Streams, events, peers

    def create_stream(self, options: StreamOptions | None = None) -> Stream:
        """A new stream."""
        self.check_open()
        chosen = configured("create_stream: options", options, StreamOptions)
        if len(self.streams) >= self.config.max_streams:
            raise InvalidValue(
                f"{self!r} has {len(self.streams)} open streams, its most: close one, or raise "
                "max_streams"
            )
        stream = Stream(self, chosen)
        self.streams.append(stream)
        return stream

    def create_event(self, name: str = "event") -> Event:
        """An event that was never recorded."""
        return Event(self, name)

    def enable_peer_access(self, peer: Context) -> None:
        """Let kernels of this context reach device memory of `peer`'s device; not the other way.

        Copies between the two devices go straight from then on; without it, through the host.

        Raises
        ------
        AccessRefused
            When there is no way between the two devices.
        """
        self.check_open()
        if not isinstance(peer, Context):
            raise InvalidValue(
                f"enable_peer_access({peer!r}): give the context that holds the memory, not its "
                "device"
            )
        peer.check_open()
        if not self.device.can_access_peer(peer.device):
            raise AccessRefused(
                f"device {self.device.number} cannot reach memory of device {peer.device.number} "
                f"in {self.device.machine.name}: copy it in a stream"
            )
        self.backend.enable_peer_access(self.device.number, peer.device.number)
        self.peers.add(peer.device.number)

    def synchronize(self, *, timeout: float | None = None) -> None:
        """Let the host wait for all its streams, each at most `timeout` seconds."""
        self.check_open()
        checked_timeout("synchronize: timeout", timeout)
        for stream in list(self.streams):
            stream.synchronize(timeout=timeout)

    def close(self) -> None:
        """Wait for its streams, then give back streams and memory; with a lost device, at once."""
        if self.is_closed:
            return
        if self.device.lost is not None:
            self.abandon()
            return
        self.check_open()
        self.settle()
        for pool in list(self.pools):
            pool.close()
        for buffer in self.buffers:
            buffer.freed_at = caller_site()
        for number in list(self._buffers):
            self._give_back(number)
        if self._reserve is not None:
            self.backend.release(self._reserve)
        if self._pool is not None:
            self.device.memory.free(self._pool)
        self.abandon()

    def abandon(self) -> None:
        """Close without waiting and without giving memory back, as when the device was lost."""
        if self.profiler is not None and self.profiler.is_running:
            self.profiler.stop()
        for stream in list(self.streams):
            stream.close()
        for buffer in self.buffers:
            buffer.freed_at = buffer.freed_at or caller_site()
        for pool in list(self.pools):
            pool.abandon()
        self._buffers.clear()
        self.generation += 1
        self.device.contexts.remove(self)
        self.is_closed = True

    def check_open(self) -> None:
        """Refuse a context that was closed, or made by another process."""
        if self.is_closed:
            raise Closed(f"{self!r} was used: make another with Context(device)")
        if os.getpid() != self.process:
            raise Closed(
                f"{self!r} was made by process {self.process} and used by {os.getpid()}: make one "
                "in each process"
            )
        if self.device.lost is not None:
            raise DeviceLost(
                f"{self.device!r} was lost ({self.device.lost}): call device.reset() and make what "
                "you need anew"
            )

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
    storage: Any
