"""The options of `cuda.jit`, and what each means where the simulator runs the kernel.

Every option of numba-cuda 0.30's decorator is in `MEANING`, and no other is accepted. Options that
change only the machine code change nothing that the simulator computes or counts.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from wia_lab.cuda.errors import NotOnSimulatorError

_CODE = "changes machine code only; the simulator's values and counters stay the same"
MEANING: dict[str, str] = {
    "device": "the function is called from kernels, never launched",
    "debug": "exceptions and failed asserts of the kernel are raised, as on hardware",
    "opt": _CODE,
    "lineinfo": "the simulator always knows the lines",
    "fastmath": "hardware may round differently; the simulator computes as IEEE 754 says",
    "max_registers": "registers are not modelled; the values stay the same",
    "launch_bounds": "a launch with more threads a block than the first bound is refused",
    "cache": "typed kernels are kept for the life of the process; nothing is written to disk",
    "lto": _CODE,
    "inline": _CODE,
    "forceinline": _CODE,
    "shared_memory_carveout": "the split of L1 and shared memory is not modelled",
    "link": "refused: code in PTX or C++ cannot be simulated",
    "extensions": "refused: they prepare arguments for the driver",
}
"""Option: what it does where the simulator runs the kernel."""

_DEVICE_REFUSES = ("link", "launch_bounds", "max_registers")
_FLAGS = ("device", "debug", "opt", "lineinfo", "fastmath", "cache", "lto", "forceinline")
_INLINE = ("never", "always")
_MOST_REGISTERS = 255
_CARVEOUTS = ("default", "maxl1", "maxshared")
_ON_SIMULATOR_REFUSED = ("link", "extensions")


def check(options: Mapping[str, Any], *, device: bool) -> None:
    """Refuse an unknown option, or a value that numba-cuda refuses.

    Raises
    ------
    TypeError
        An unknown option, or a value of another type than it has.
    ValueError
        A value out of range, or an option that a device function cannot have.
    NotImplementedError
        `boundscheck`, which CUDA does not have; the simulator always checks bounds.
    """
    if options.get("boundscheck"):
        raise NotImplementedError(
            "boundscheck is not supported for CUDA: leave it out, the simulator always checks "
            "bounds"
        )
    for name in options:
        if name not in MEANING and name != "boundscheck":
            raise TypeError(f"cuda.jit has no option {name!r}: {_nearest(name)}")
    for name in _FLAGS:
        _check_flag(name, device if name == "device" else options.get(name))
    _check_inline(options.get("inline"))
    _check_registers(options.get("max_registers"))
    _check_bounds(options.get("launch_bounds"))
    if device:
        for name in _DEVICE_REFUSES:
            if options.get(name):
                raise ValueError(f"{name} is invalid for a device function: give it to the kernel")
    _check_carveout(options.get("shared_memory_carveout"))


def check_on_simulator(options: Mapping[str, Any], name: str) -> None:
    """Refuse the options that only hardware can honour."""
    for option in _ON_SIMULATOR_REFUSED:
        if options.get(option):
            raise NotOnSimulatorError(
                f"{name} has the option {option}, which the simulator cannot honour: leave it out, "
                "or set WIA_LAB_BACKEND=hardware on a machine with a GPU"
            )


def max_threads(options: Mapping[str, Any]) -> int | None:
    """The most threads a block that `launch_bounds` allows; None when it says nothing."""
    bounds = options.get("launch_bounds")
    return bounds[0] if isinstance(bounds, (tuple, list)) else bounds


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check_flag(name: str, value: Any) -> None:
    if (
        value is None
        or isinstance(value, bool | np.bool_)
        or (_is_whole(value) and value in (0, 1))
    ):
        return
    raise TypeError(f"{name} is {value!r}: give True or False")


def _check_inline(value: Any) -> None:
    if value is None or isinstance(value, bool) or callable(value) or value in _INLINE:
        return
    raise TypeError(f"inline is {value!r}: give 'never', 'always' or a cost model")


def _check_registers(value: Any) -> None:
    if value is not None and not (_is_whole(value) and 1 <= value <= _MOST_REGISTERS):
        raise ValueError(
            f"max_registers is {value!r}: give 1 to {_MOST_REGISTERS}, as many as a thread can have"
        )


def _check_bounds(value: Any) -> None:
    bounds = value if isinstance(value, tuple | list) else (value,)
    if value is None or (len(bounds) in (1, 2, 3) and all(_is_whole(b) and b > 0 for b in bounds)):
        return
    raise ValueError(
        f"launch_bounds is {value!r}: give the most threads of a block, or a tuple of that, the "
        "least blocks of a multiprocessor and the most blocks of a cluster"
    )


def _check_carveout(value: Any) -> None:
    if value is None:
        return
    if isinstance(value, str):
        fits = value.lower() in _CARVEOUTS
    elif isinstance(value, int):
        fits = -1 <= value <= 100
    else:
        raise TypeError(f"shared_memory_carveout is {value!r}: give a string or an integer")
    if not fits:
        raise ValueError(
            f"shared_memory_carveout is {value!r}: give -1 to 100 or one of {', '.join(_CARVEOUTS)}"
        )


def _nearest(name: str) -> str:
    found = difflib.get_close_matches(name, MEANING, n=1)
    return f"did you mean {found[0]!r}?" if found else f"it takes {', '.join(MEANING)}"
