"""What learners import: numba.cuda's names, bound to the hardware or to the simulator.

``from wia_lab import cuda`` takes the place of ``from numba import cuda``. The names used inside
kernels (`threadIdx`, `shared`, `atomic`, ...) are the same objects on both back ends; a launch on
hardware compiles a copy of the kernel in which they are numba.cuda's. The host's functions
(`to_device`, `stream`, ...) are numba.cuda's own where `backend` is ``"hardware"``, and this
package's where it is ``"simulator"``. Beyond numba.cuda there are `cp_async` and its companions.
"""

from __future__ import annotations

import importlib
from typing import Any

from wia_lab.cuda import choice as _choice
from wia_lab.cuda.choice import describe_backend
from wia_lab.cuda.errors import BackendError, CudaAPIError
from wia_lab.cuda.kernel import DeviceFunction, Kernel, jit
from wia_lab.cuda.policy import hazards
from wia_lab.settings import check_settings as _check_settings
from wia_lab.simt import stubs as _stubs

_check_settings()  # a learner's first cell says it, not a launch that needs the value

IN_KERNELS = _stubs.CUDA.names()
"""The names for use inside kernels."""

globals().update({name: getattr(_stubs.CUDA, name) for name in IN_KERNELS})

_SIMULATED = {
    "wia_lab.cuda.arguments": ("In", "InOut", "Out"),
    "wia_lab.cuda.host": (
        "as_cuda_array",
        "defer_cleanup",
        "device_array",
        "device_array_like",
        "is_available",
        "is_bfloat16_supported",
        "is_cuda_array",
        "is_float16_supported",
        "managed_array",
        "mapped",
        "mapped_array",
        "mapped_array_like",
        "pinned",
        "pinned_array",
        "pinned_array_like",
        "profile_start",
        "profile_stop",
        "profiling",
        "synchronize",
        "to_device",
    ),
    "wia_lab.cuda.devices": (
        "close",
        "current_context",
        "detect",
        "get_current_device",
        "gpus",
        "list_devices",
        "select_device",
    ),
    "wia_lab.cuda.streams": (
        "default_stream",
        "event",
        "event_elapsed_time",
        "external_stream",
        "legacy_default_stream",
        "per_thread_default_stream",
        "stream",
    ),
    "wia_lab.cuda.reduction": ("Reduce", "reduce"),
    "wia_lab.cuda.ufuncs": ("guvectorize", "vectorize"),
}
_HOST = {name: module for module, names in _SIMULATED.items() for name in names}
_COMPILING = ("compile", "compile_all", "compile_for_current_device", "compile_ptx")

__all__ = [  # noqa: PLE0604 - the kernel names are those of the stubs
    "BackendError",
    "CudaAPIError",
    "DeviceFunction",
    "Kernel",
    "backend",
    "describe_backend",
    "hazards",
    "jit",
    *IN_KERNELS,
    *_HOST,
]


def __getattr__(name: str) -> Any:
    """`backend`, the host's functions of the back end in use, and numba.cuda's other names."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "backend":
        return _choice.backend()
    if _choice.backend() == "hardware":
        return _from_numba(name)
    if name in _HOST:
        return getattr(importlib.import_module(_HOST[name]), name)
    if name in _COMPILING:
        return _from_numba(name)
    raise AttributeError(f"wia_lab.cuda has no {name!r} on the simulator: {_way_out(name)}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _from_numba(name: str) -> Any:
    """numba.cuda's `name`; what takes a Python function takes a kernel of ours too."""
    from wia_lab.cuda.rebind import hardware_name

    return hardware_name(name)


def _way_out(name: str) -> str:
    import difflib

    found = difflib.get_close_matches(name, __all__, n=1)
    return f"did you mean {found[0]!r}?" if found else "if numba.cuda has it, it needs a GPU"
