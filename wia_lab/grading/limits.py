"""What one answer may use: time, memory, output, processes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from wia_lab.errors import CannotRun

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits a puzzle.

    Attributes
    ----------
    seconds : float
        Wall time of all of a puzzle's inputs together; processor time is limited to the same.
    memory_mib : int
        Address space, with the simulator's own (about 1 GiB).
    output_mib : int
        What an answer may hand back, and the largest file it may write.
    processes : int
        Processes and threads of the answer at one time.
    """

    seconds: float = 20.0
    memory_mib: int = 3072
    output_mib: int = 32
    processes: int = 24

    def __post_init__(self) -> None:
        for name, least in (
            ("seconds", 0.1),
            ("memory_mib", 256),
            ("output_mib", 1),
            ("processes", 8),
        ):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value < least:
                raise CannotRun(f"limit {name} is {value!r}: it must be {least} or more")

    def plain(self) -> dict[str, Any]:
        """Return the limits as JSON holds them."""
        return asdict(self)


def confine(limits: Limits, *, count_processes: bool) -> None:
    """Put the limits on this process and its children, for good.

    Parameters
    ----------
    limits
        The limits.
    count_processes
        Whether the system counts this user's processes apart from anybody else's.
    """
    import resource  # noqa: PLC0415 - not on Windows

    wanted = {
        resource.RLIMIT_AS: limits.memory_mib * MIB,
        resource.RLIMIT_CPU: math.ceil(limits.seconds) + 1,
        resource.RLIMIT_FSIZE: limits.output_mib * MIB,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 64,
    }
    if count_processes:
        wanted[resource.RLIMIT_NPROC] = limits.processes
    for what, most in wanted.items():
        hard = resource.getrlimit(what)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (value, value))
