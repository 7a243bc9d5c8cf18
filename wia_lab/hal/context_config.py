"""How a context is made (§3.3)."""

from __future__ import annotations

from dataclasses import dataclass

from wia_lab.hal.checks import checked_flag, checked_limit, checked_size, checked_whole, refuse
from wia_lab.hal.profiler import ProfilerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextConfig:
    """How a context is made.

    Attributes
    ----------
    memory_pool_size : int, str or None
        Bytes, or text such as "1GiB", of device memory to reserve at once and to allocate from;
        without it each buffer takes its own.
    memory_limit : int, str or None
        Most bytes of device memory that its buffers may have together. Unified and managed memory
        does not count: the standard's table (§3.5.1) gives only DEVICE the device as its place, and
        pages that migrate can leave it.
    max_streams : int
        Most streams that are open at a time.
    exclusive : bool
        Nobody else may have a context on the device meanwhile.
    timeout : float or None
        Seconds that a wait may take where the call names none; None waits for ever.
    profiling : bool or ProfilerConfig
        Watch the context from its making to its end with a profiler, `context.profiler`.
    """

    memory_pool_size: int | str | None = None
    memory_limit: int | str | None = None
    max_streams: int = 32
    exclusive: bool = False
    timeout: float | None = None
    profiling: bool | ProfilerConfig = False

    def __post_init__(self) -> None:
        where = "ContextConfig: {}".format
        for name in ("memory_pool_size", "memory_limit"):
            if getattr(self, name) is not None:
                checked_size(where(name), getattr(self, name))
        checked_whole(where("max_streams"), self.max_streams, 1)
        checked_flag(where("exclusive"), self.exclusive)
        checked_limit(where("timeout"), self.timeout)
        if not isinstance(self.profiling, bool | ProfilerConfig):
            refuse(where("profiling"), self.profiling, "give True, False or a ProfilerConfig")
