"""What compiling freezes: a kernel sees the globals that it saw when it was first launched.

numba-cuda reads global and closure variables once, when it compiles a kernel for given types, and
never again; arrays among them become constants, copies. So does the simulator: a kernel is run as
a copy that holds what its variables, and those of the functions it calls, were.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from wia_lab.cuda.functioncopies import FunctionCopies, is_cpu_dispatcher
from wia_lab.cuda.kernel import Compiled


class FrozenFunction:
    """Stands for an `@njit` function, whose Python function is frozen."""

    def __init__(self, py_func: Any) -> None:
        self.py_func = py_func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the Python function, on the host."""
        return self.py_func(*args, **kwargs)


class Freezing(FunctionCopies):
    """Copies that keep the values of globals and closure variables."""

    def counterpart(self, value: Any, used: set[str]) -> Any:
        """What `value` becomes: arrays are copied, functions frozen in turn."""
        if isinstance(value, np.ndarray):
            return value.copy(order="K")
        if isinstance(value, Compiled):
            return self.copied(value, value.py_func, lambda function: _with(value, function))
        if is_cpu_dispatcher(value):
            return self.copied(value, value.py_func, FrozenFunction)
        return value


def frozen(function: Any) -> Any:
    """A copy of `function` that holds what it refers to, as it is now."""
    return Freezing().copied(function, function, lambda made: made)


def _with(compiled: Compiled, function: Any) -> Compiled:
    twin = copy.copy(compiled)
    twin.py_func = function
    return twin
