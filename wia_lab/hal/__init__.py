"""WIA-AI-011 in Python: devices, contexts, streams and memory of accelerators.

    import wia_lab.hal as wia

    machine = wia.open_machine("2xH100-nvlink")
    with wia.Context(machine[0]) as context:
        data = context.allocate("1MiB", wia.MemoryKind.DEVICE)

Nothing is current: every call names its context, its stream or its buffer.
"""

from wia_lab.hal.advice import Advice, Migrations
from wia_lab.hal.buffer import Buffer, Part
from wia_lab.hal.context import Context, ContextConfig
from wia_lab.hal.device import Capabilities, Device, DeviceInfo, DeviceType
from wia_lab.hal.errors import (
    AccessRefused,
    Closed,
    DeviceBusy,
    DeviceLost,
    ErrorCode,
    ErrorDetails,
    ForeignHandle,
    HalError,
    InvalidValue,
    NotReady,
    OutOfMemory,
    TimedOut,
    UnknownDevice,
)
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.machine import Machine, open_machine
from wia_lab.hal.profiler import KernelStats, Profiler, ProfilerConfig, ProfileReport
from wia_lab.hal.recovery import run_safely
from wia_lab.hal.stream import Event, Stream, StreamOptions
from wia_lab.hal.sync import TIMEOUT_INFINITE, Fence, PeerBarrier

__all__ = [
    "TIMEOUT_INFINITE",
    "AccessRefused",
    "Advice",
    "Buffer",
    "Capabilities",
    "Closed",
    "Context",
    "ContextConfig",
    "Device",
    "DeviceBusy",
    "DeviceInfo",
    "DeviceLost",
    "DeviceType",
    "ErrorCode",
    "ErrorDetails",
    "Event",
    "Fence",
    "ForeignHandle",
    "HalError",
    "InvalidValue",
    "KernelStats",
    "Machine",
    "MemoryKind",
    "Migrations",
    "NotReady",
    "OutOfMemory",
    "Part",
    "PeerBarrier",
    "ProfileReport",
    "Profiler",
    "ProfilerConfig",
    "Stream",
    "StreamOptions",
    "TimedOut",
    "UnknownDevice",
    "open_machine",
    "run_safely",
]
