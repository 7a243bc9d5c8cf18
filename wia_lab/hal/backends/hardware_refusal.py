"""Why a real device's launch failed, in the HAL's words: three libraries have their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import TypingError

from wia_lab.hal.errors import KernelError
from wia_lab.simt.launch import written_arguments

if TYPE_CHECKING:
    from wia_lab.hal.backends.base import KernelLaunch
    from wia_lab.hal.backends.hardware_driver import Driver

_STATUS = re.compile(r"CUDA_ERROR_\w+")
BY_NUMBA, BY_CORE = "CudaAPIError", "CUDAError"
"""numba-cuda's error has the driver's number as `code`, cuda.core's has its name in the text."""


def refusal(
    driver: Driver, error: Exception, name: str, launch: KernelLaunch | None
) -> Exception | None:
    """The error to raise in place of one by numba-cuda or cuda.core; None for any other."""
    kinds = [each.__name__ for each in type(error).__mro__]
    if BY_NUMBA in kinds:
        return driver.failure(int(getattr(error, "code", 0)), f"launch of {name}")
    if BY_CORE in kinds:
        word = _STATUS.search(str(error))
        number = getattr(driver.api.CUresult, word[0], None) if word else None
        return None if number is None else driver.failure(int(number), f"launch of {name}")
    if "NumbaError" in kinds:
        what = _why(launch) if launch is not None else ""
        said = what or _sentence(str(error))
        return KernelError(
            f"{name} with these arguments: {said}: give what its operations can take"
        )
    return None


def _why(launch: KernelLaunch) -> str:
    """What the simulator's front end, which has the same types, says of the arguments."""
    samples: list[Any] = [
        each.value
        if each.layout is None
        else np.zeros((1,) * len(each.layout.shape), each.layout.dtype)
        for each in launch.arguments
    ]
    try:
        written_arguments(launch.kernel.frozen(samples), samples, shared_bytes=launch.shared_bytes)
    except TypingError as error:
        return str(error).strip().splitlines()[0]
    return ""


def _sentence(text: str) -> str:
    """The first line of Numba's text that says what is wrong, not where in Numba."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Failed in", "During:", "File "))]
    return (told or lines or ["it cannot be compiled"])[0]
