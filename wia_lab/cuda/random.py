"""Random numbers in kernels: numba.cuda.random's xoroshiro128+ generators, on both back ends.

The functions for kernels (`xoroshiro128p_uniform_float32`, `xoroshiro128p_normal_float64`, ...) are
numba.cuda's own; what makes the states works without a GPU too.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from wia_lab.cuda import choice


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> Any:
    """Make a device array of `n` generators, 2**64 numbers apart from one another.

    Parameters
    ----------
    n
        How many: one a thread.
    seed
        Starts the first; the same seed gives the same numbers, on hardware too.
    subsequence_start
        By how many times 2**64 numbers all are advanced.
    stream
        The stream of the copy to the device.
    """
    from wia_lab import cuda

    numba_random = _numba_random()
    states = np.empty(n, numba_random.xoroshiro128p_dtype)
    numba_random.init_xoroshiro128p_states_cpu(states, np.uint64(seed), subsequence_start)
    return cuda.to_device(states, stream=stream)


def init_xoroshiro128p_states(
    states: Any, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> None:
    """Set the generators in the device array `states`, as `create_xoroshiro128p_states` does."""
    fresh = np.empty(states.shape, _numba_random().xoroshiro128p_dtype)
    _numba_random().init_xoroshiro128p_states_cpu(fresh, np.uint64(seed), subsequence_start)
    states.copy_to_device(fresh, stream=stream)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_numba_random(), name)


def _numba_random() -> Any:
    if choice.backend() == "hardware":
        choice.numba_cuda()
    return importlib.import_module("numba.cuda.random")
