"""Memory pools (§3.5.2, §4.5): device memory that is kept for reuse when it is freed.

A buffer allocated for a stream is freed without a wait, and its memory reused at once on that
stream, elsewhere after the event that was recorded then. One allocated for none waits for the
context's streams when it is freed, as any other buffer does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wia_lab import errors
from wia_lab.hal.checks import (
    Closing,
    checked_context,
    checked_flag,
    checked_name,
    checked_size,
    configured,
    is_real,
)
from wia_lab.hal.errors import Closed, InvalidValue
from wia_lab.hal.exhaustion import exhausted
from wia_lab.hal.sync import check_stream
from wia_lab.memory import Pool, SizeClasses, parse_size
from wia_lab.memory.adaptors import Adaptor

if TYPE_CHECKING:
    from collections.abc import Callable

    from wia_lab.hal.buffer import Buffer
    from wia_lab.hal.context import Context
    from wia_lab.hal.stream import Stream
    from wia_lab.memory import Allocator, Block


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """How a pool is made. Sizes are bytes, or text such as "512MiB".

    Attributes
    ----------
    initial_size : int or str
        Device memory that the pool has from the start and never gives back before it is closed.
    max_size : int, str or None
        Most that it takes, in use and kept together; None leaves the limit to the context.
    block_size : int or str
        Sizes are multiples of it.
    caching : bool
        Keep what is freed. Without it the pool only sets memory aside.
    defragment_threshold : float
        When the share of its free memory that is not in the largest piece passes this after a
        free, what is kept goes back, so that holes join. Buffers in use are never moved.
    """

    initial_size: int | str = 0
    max_size: int | str | None = None
    block_size: int | str = 256
    caching: bool = True
    defragment_threshold: float = 1.0

    def __post_init__(self) -> None:
        share = self.defragment_threshold
        if not is_real(share) or not 0 <= share <= 1:
            raise InvalidValue(f"defragment_threshold is {share!r}: give a share from 0 to 1")
        checked_flag("PoolConfig: caching", self.caching)
        initial = checked_size("PoolConfig: initial_size", self.initial_size, 0)
        checked_size("PoolConfig: block_size", self.block_size)
        if self.max_size is not None and initial > checked_size(
            "PoolConfig: max_size", self.max_size
        ):
            raise InvalidValue(
                f"PoolConfig: initial_size is {self.initial_size!r} and max_size "
                f"{self.max_size!r}: give an initial size from 0 to the largest one"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStats:
    """What a pool has done. Sizes are bytes, rates and shares from 0 to 1."""

    num_allocations: int
    cache_hit_rate: float
    fragmentation: float
    in_use: int
    kept: int
    reserved: int
    peak_in_use: int
    defragmentations: int


class _SetAside(Adaptor):
    """Takes blocks from upstream, and holds as much of it as is missing to `initial` bytes."""

    def __init__(self, upstream: Allocator, initial: int, release: Callable[[Any], None]) -> None:
        super().__init__(upstream)
        self._let_go = release  # of the bytes behind a block
        self.initial, self.taken = initial, 0
        self.rest: Block | None = None
        self.storages: dict[int, Any] = {}  # by offset: the bytes behind the blocks taken
        self._set_aside()

    def allocate(self, size: int, *, alignment: int | None = None, stream: Any = None) -> Block:
        self._release()
        try:
            block = self.upstream.allocate(size, alignment=alignment, stream=stream)
            self.taken += block.size
        finally:
            self._set_aside()
        return block

    def free(self, block: Block | int, *, stream: Any = None) -> None:
        found = self._live_block(block)
        self._release()
        self.upstream.free(block, stream=stream)
        if found is not None:
            self.taken -= found.size
            if (storage := self.storages.pop(found.offset, None)) is not None:
                self._let_go(storage)
        self._set_aside()

    def close(self) -> None:
        """Give back what is set aside."""
        self.initial = 0
        self._release()

    def _release(self) -> None:
        if self.rest is not None:
            self.upstream.free(self.rest)
            self.rest = None

    def _set_aside(self) -> None:
        missing = self.initial - self.taken
        if missing > 0:
            self.rest = self.upstream.allocate(missing)


class MemoryPool(Closing):
    """Device memory of a context, kept when freed. Use `with`, or `close`; twice is fine.

    Raises
    ------
    OutOfMemory
        When `initial_size` is not there.
    """

    def __init__(self, context: Context, config: PoolConfig | None = None) -> None:
        self.context: Context = checked_context("MemoryPool: context", context)
        self.config = configured("MemoryPool: config", config, PoolConfig)
        self.is_closed = False
        self.defragmentations = 0
        initial = parse_size(self.config.initial_size)
        try:
            self._below = _SetAside(context.device_memory, initial, context.backend.release)
        except errors.AllocatorError as error:
            raise exhausted(context, initial, error) from error
        self._books = Pool(
            self._below,
            classes=SizeClasses(granule=parse_size(self.config.block_size)),
            keep=None if self.config.caching else 0,
            limit=self.config.max_size,
        )
        context.pools.append(self)

    def __repr__(self) -> str:
        return f"<pool of {self.context!r}{', closed' * self.is_closed}>"

    def allocate(
        self, size: int | str, *, stream: Stream | None = None, name: str | None = None
    ) -> Buffer:
        """A buffer of device memory; what a freed one held may still be in it.

        Raises
        ------
        InvalidValue
            A size of zero or less.
        OutOfMemory
            When even what is kept, and what nobody refers to any more, does not do.
        """
        self._check_open()
        nbytes = checked_size("allocate: size", size)
        checked_name("allocate: name", name)
        if stream is not None:
            check_stream("allocate: stream", stream, self.context)
        try:
            block = self._books.allocate(nbytes, stream=stream)
        except errors.AllocatorError:
            self.context.collect()
            try:
                block = self._books.allocate(nbytes, stream=stream)
            except errors.AllocatorError as error:
                raise exhausted(self.context, nbytes, error) from error
        storage = self._below.storages.get(block.offset)
        try:
            buffer = self.context.adopt(nbytes, block, self, name=name, storage=storage)
        except errors.AllocatorError as error:
            self._books.free(block)
            raise exhausted(self.context, nbytes, error) from error
        self._below.storages[block.offset] = buffer.storage
        return buffer

    def give_back(self, block: Block) -> None:
        """Keep the memory of a buffer that was freed; waits where it was for no stream."""
        if block.stream is None:
            self.context.after_waiting(lambda: self._keep(block))
        else:
            self._keep(block)

    def _keep(self, block: Block) -> None:
        self._books.free(block)
        if self._books.statistics.fragmentation > self.config.defragment_threshold:
            self.defragmentations += 1
            self.trim()

    def trim(self) -> int:
        """Give back what is kept and idle; returns its bytes."""
        return self._books.trim()

    @property
    def stats(self) -> PoolStats:
        """The books at this moment."""
        found = self._books.statistics
        return PoolStats(
            num_allocations=found.allocations,
            cache_hit_rate=found.hit_rate,
            fragmentation=found.fragmentation,
            in_use=found.live_bytes,
            kept=found.cached_bytes,
            reserved=max(found.reserved_bytes, self._below.initial),
            peak_in_use=found.peak_live_bytes,
            defragmentations=self.defragmentations,
        )

    def close(self) -> None:
        """Wait for the context's streams, free its buffers, and give all memory back.

        What failed in a stream is raised when all has been given back.
        """
        if not self.is_closed:
            self.context.after_waiting(self.give_all_back)

    def give_all_back(self) -> None:
        """Close without a wait: its buffers are freed, and all memory is given back."""
        for block in self.context.take_back(self):
            self._books.free(block)
        self.trim()
        self._below.close()
        self.abandon()

    def abandon(self) -> None:
        """Close without giving memory back, as when the device was lost."""
        self.is_closed = True
        self.context.pools.remove(self)

    def _check_open(self) -> None:
        self.context.check_open()
        if self.is_closed:
            raise Closed(f"{self!r} was used: make another with MemoryPool(context)")
