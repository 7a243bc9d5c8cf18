"""Profiling (§3.10): what a context's device did, how much of the time, and how much memory.

Shares are of the union of intervals: two kernels at once do not count twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from wia_lab.hal.checks import Single, checked, checked_context, checked_flag, configured, refuse
from wia_lab.hal.errors import InvalidValue, NotReady
from wia_lab.wording import counted

if TYPE_CHECKING:
    from types import TracebackType

    from wia_lab.hal.backends.base import Interval
    from wia_lab.hal.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilerConfig:
    """What to look at. What is switched off is missing from the report."""

    timing: bool = True
    memory_tracking: bool = True
    kernel_profiling: bool = True

    def __post_init__(self) -> None:
        for name in ("timing", "memory_tracking", "kernel_profiling"):
            checked_flag(f"ProfilerConfig: {name}", getattr(self, name))


@dataclass(frozen=True, slots=True)
class KernelStats:
    """All calls of one name. `total_time_ms` is the sum of their durations."""

    name: str
    total_time_ms: float
    call_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileReport:
    """What was seen between the profiler's beginning and its end.

    Attributes
    ----------
    total_time_ms : float
        Of the machine's clock.
    kernel_time_ms, memory_time_ms : float or None
        During which at least one kernel, or at least one copy, was running.
    overlap_ms : float or None
        During which both were.
    peak_memory_bytes : int or None
        Most device memory that the context's buffers had.
    kernel_stats : tuple of KernelStats
        The longest first.
    """

    total_time_ms: float
    kernel_time_ms: float | None
    memory_time_ms: float | None
    overlap_ms: float | None
    peak_memory_bytes: int | None
    kernel_stats: tuple[KernelStats, ...]

    @property
    def kernel_share(self) -> float | None:
        """Share of the time during which a kernel was running."""
        return self._share(self.kernel_time_ms)

    @property
    def memory_share(self) -> float | None:
        """Share of the time during which a copy was running."""
        return self._share(self.memory_time_ms)

    def _share(self, part: float | None) -> float | None:
        if part is None:
            return None
        return part / self.total_time_ms if self.total_time_ms else 0.0

    def __str__(self) -> str:
        lines = [f"total       {self.total_time_ms:12.3f} ms"]
        for name, part in (("kernels", self.kernel_time_ms), ("copies", self.memory_time_ms)):
            if part is not None:
                lines.append(f"{name:11} {part:12.3f} ms  {100 * (self._share(part) or 0):5.1f} %")
        if self.peak_memory_bytes is not None:
            lines.append(f"peak memory {self.peak_memory_bytes / 2**20:12.1f} MiB")
        lines += [
            f"  {each.name}: {each.total_time_ms:.3f} ms in {counted(each.call_count, 'call')}"
            for each in self.kernel_stats
        ]
        return "\n".join(lines)


class Profiler(Single):
    """Watches a context from `with`, or `begin`, to its end, where it waits for the streams."""

    def __init__(self, context: Context, config: ProfilerConfig | None = None) -> None:
        self.context: Context = checked_context("Profiler: context", context)
        self.config = configured("Profiler: config", config, ProfilerConfig)
        self._begin: float | None = None
        self._end: float | None = None
        self._intervals: list[Interval] = []
        self._peak = 0

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.context.synchronize()
        finally:
            if self.is_running:  # not any more where the context was closed inside
                self.stop()

    @property
    def is_running(self) -> bool:
        """Whether it has begun and not ended."""
        return self._begin is not None and self._end is None

    def begin(self) -> None:
        """Watch from now on, and forget what was seen before."""
        self.context.check_open()
        self.context.memory_peak = self.context.memory_in_use
        backend, device = self.context.backend, self.context.device.number
        if not self.is_running:
            backend.watch(device, on=True)
        self._begin, self._end = backend.now(), None

    def stop(self) -> None:
        """End here, without waiting: work that has not ended counts as far as it is known.

        Raises
        ------
        NotReady
            When it has not begun, or ended before.
        """
        if self._begin is None or self._end is not None:
            raise NotReady("the profiler is not running: begin() it, or use it in a `with`")
        backend, device = self.context.backend, self.context.device
        self._end = backend.now()
        self._peak = self.context.memory_peak
        self._intervals = []
        if device.lost is None:  # nor does a lost device tell of its work
            self._intervals = backend.intervals(device.number, self._begin)
        backend.watch(device.number, on=False)

    def report(self) -> ProfileReport:
        """The figures.

        Raises
        ------
        NotReady
            Before the end of the `with`.
        """
        kernels = [each for each in self._ended() if each.kind == "kernel"]
        copies = [each for each in self._ended() if each.kind == "copy"]
        timing = self.config.timing
        busy = [union(each) for each in (kernels, copies, [*kernels, *copies])]
        return ProfileReport(
            total_time_ms=((self._end or 0) - (self._begin or 0)) * 1e3,
            kernel_time_ms=busy[0] * 1e3 if timing else None,
            memory_time_ms=busy[1] * 1e3 if timing else None,
            overlap_ms=(busy[0] + busy[1] - busy[2]) * 1e3 if timing else None,
            peak_memory_bytes=self._peak if self.config.memory_tracking else None,
            kernel_stats=_by_name(kernels) if self.config.kernel_profiling else (),
        )

    def save(self, path: str | Path) -> None:
        """Write the report as JSON."""
        _write("save", path, asdict(self.report()))

    def save_trace(self, path: str | Path) -> None:
        """Write each copy and kernel as a Chrome trace, for ui.perfetto.dev. Times are µs."""
        device = self.context.device
        rows = list(dict.fromkeys(each.stream for each in self._ended()))
        events: list[dict[str, Any]] = [
            {
                "ph": "M",
                "pid": device.number,
                "name": "process_name",
                "args": {"name": repr(device)},
            }
        ]
        for number, stream in enumerate(rows):
            events.append(
                {
                    "ph": "M",
                    "pid": device.number,
                    "tid": number,
                    "name": "thread_name",
                    "args": {"name": stream},
                }
            )
        events += [
            {
                "ph": "X",
                "pid": device.number,
                "tid": rows.index(each.stream),
                "name": each.name,
                "cat": each.kind,
                "ts": (each.begin - (self._begin or 0)) * 1e6,
                "dur": (each.end - each.begin) * 1e6,
            }
            for each in self._ended()
        ]
        _write("save_trace", path, {"traceEvents": events, "displayTimeUnit": "ms"})

    def _ended(self) -> list[Interval]:
        if self._end is None:
            way = "close its context" if self.context.profiler is self else "leave its `with`"
            raise NotReady(f"the profiler has not ended: {way} before asking for results")
        return self._intervals


def union(intervals: Iterable[Interval]) -> float:
    """Seconds during which at least one of the intervals runs."""
    total, reached = 0.0, float("-inf")
    for each in sorted(intervals, key=lambda each: each.begin):
        total += max(0.0, each.end - max(each.begin, reached))
        reached = max(reached, each.end)
    return total


def _by_name(kernels: Iterable[Interval]) -> tuple[KernelStats, ...]:
    durations: dict[str, list[float]] = {}
    for each in kernels:
        durations.setdefault(each.name, []).append(each.end - each.begin)
    found = [KernelStats(name, sum(all_) * 1e3, len(all_)) for name, all_ in durations.items()]
    return tuple(sorted(found, key=lambda each: -each.total_time_ms))


def _write(call: str, path: str | Path, data: Any) -> None:
    """Write beside the target, then rename: whoever reads it sees all of it or the old one."""
    checked(f"{call}: path", path, (str, Path), "give the name of a file")
    target = Path(path)
    if not target.name or target.is_dir():
        refuse(f"{call}: path", str(path), "give the name of a file, which is not a folder's")
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(data, indent=1), encoding="utf-8")
        beside.replace(target)
    except OSError as error:
        raise InvalidValue(
            f"{call}: {target} cannot be written ({error.strerror}): give a file in a folder that "
            "is there and may be written to"
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
