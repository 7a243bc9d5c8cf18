"""WIA-AI-011 in Python: devices, contexts, streams and memory of accelerators.

    import wia_lab.hal as wia

    machine = wia.open_machine("2xH100-nvlink")
    with wia.Context(machine[0]) as context:
        a, b = (wia.from_numpy(context, array) for array in (left, right))
        product = wia.matmul(a, b)
        print(product.choice.explain(), product.numpy())

Nothing is current: every call names its context, its stream, its buffer or a tensor.
"""

from wia_lab.hal.advice import Advice, Migrations
from wia_lab.hal.backing import DeviceBacking
from wia_lab.hal.buffer import Buffer, Part
from wia_lab.hal.context import Context
from wia_lab.hal.context_config import ContextConfig
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
    KernelError,
    NotReady,
    OutOfMemory,
    TimedOut,
    UnknownDevice,
)
from wia_lab.hal.event import Event
from wia_lab.hal.kernel import Kernel, Parameter, compile_kernel
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.launch import LaunchConfig, launch_kernel, launch_kernel_async
from wia_lab.hal.machine import Machine, open_machine
from wia_lab.hal.ops.choice import Choice, Precision
from wia_lab.hal.ops.convolution import ConvAlgorithm, ConvConfig, conv2d
from wia_lab.hal.ops.elementwise import (
    add,
    contiguous,
    convert,
    full,
    gelu,
    mul,
    relu,
    sigmoid,
    zeros,
)
from wia_lab.hal.ops.linear import MatmulAlgorithm, MatmulConfig, batch_matmul, matmul
from wia_lab.hal.ops.pooling import Pool2dConfig, PoolType, batch_norm, pool2d
from wia_lab.hal.ops.reductions import max, softmax, sum  # noqa: A004 - the standard's names
from wia_lab.hal.ops.shaping import concat, reshape, slice, transpose  # noqa: A004 - as above
from wia_lab.hal.pool import MemoryPool, PoolConfig, PoolStats
from wia_lab.hal.profiler import KernelStats, Profiler, ProfilerConfig, ProfileReport
from wia_lab.hal.recovery import run_safely
from wia_lab.hal.stream import Stream, StreamOptions
from wia_lab.hal.sync import TIMEOUT_INFINITE, Fence, PeerBarrier
from wia_lab.hal.tensor import Tensor, default_stream, empty, from_dlpack, from_numpy

__all__ = [
    "TIMEOUT_INFINITE",
    "AccessRefused",
    "Advice",
    "Buffer",
    "Capabilities",
    "Choice",
    "Closed",
    "Context",
    "ContextConfig",
    "ConvAlgorithm",
    "ConvConfig",
    "Device",
    "DeviceBacking",
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
    "Kernel",
    "KernelError",
    "KernelStats",
    "LaunchConfig",
    "Machine",
    "MatmulAlgorithm",
    "MatmulConfig",
    "MemoryKind",
    "MemoryPool",
    "Migrations",
    "NotReady",
    "OutOfMemory",
    "Parameter",
    "Part",
    "PeerBarrier",
    "Pool2dConfig",
    "PoolConfig",
    "PoolStats",
    "PoolType",
    "Precision",
    "ProfileReport",
    "Profiler",
    "ProfilerConfig",
    "Stream",
    "StreamOptions",
    "Tensor",
    "TimedOut",
    "UnknownDevice",
    "add",
    "batch_matmul",
    "batch_norm",
    "compile_kernel",
    "concat",
    "contiguous",
    "conv2d",
    "convert",
    "default_stream",
    "empty",
    "from_dlpack",
    "from_numpy",
    "full",
    "gelu",
    "launch_kernel",
    "launch_kernel_async",
    "matmul",
    "max",
    "mul",
    "open_machine",
    "pool2d",
    "relu",
    "reshape",
    "run_safely",
    "sigmoid",
    "slice",
    "softmax",
    "sum",
    "transpose",
    "zeros",
]
