"""Which of the two back ends runs a launch: the hardware or the simulator.

`WIA_LAB_BACKEND` decides when it is set. Otherwise hardware is used where the package numba-cuda
and a CUDA GPU are both present, and the simulator everywhere else. The choice is made on first use
and kept; numba.cuda is imported only where numba-cuda is installed.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
import sys
from typing import Any, Literal, NamedTuple

from wia_lab.cuda.errors import BackendError
from wia_lab.settings import BACKEND, setting

Name = Literal["hardware", "simulator"]
NO_DRIVER = "no NVIDIA driver was found"
INSTALL = 'install the extra that fits your driver: pip install "wia-lab[cuda13]" or [cuda12]'


class Choice(NamedTuple):
    """A back end, why it was chosen, and what would change that."""

    backend: Name
    reason: str
    advice: str


def backend() -> Name:
    """The back end of launches in this process."""
    return describe_backend().backend


def describe_backend() -> Choice:
    """The back end in use, the reason, and advice (empty when there is none).

    Raises
    ------
    SettingError
        When `WIA_LAB_BACKEND` names no back end.
    BackendError
        When it asks for hardware that is not there.
    """
    return _choose(setting(BACKEND), os.environ.get("NUMBA_ENABLE_CUDASIM"))


@functools.cache
def _choose(asked: str | None, cudasim: str | None) -> Choice:
    if asked == "simulator":
        return Choice("simulator", f"{BACKEND} asks for it", "")
    problem, way = _obstacle(cudasim)
    if asked == "hardware" and problem:
        raise BackendError(
            f"{BACKEND} asks for hardware, but {problem}: unset {BACKEND} to use the simulator, "
            f"or {way}"
        )
    if problem:
        needless = "nothing to install: the simulator needs no GPU"
        return Choice("simulator", problem, needless if problem == NO_DRIVER else way)
    reason = f"numba-cuda sees {numba_cuda().get_current_device().name}"
    return Choice("hardware", reason, f"set {BACKEND}=simulator to use the simulator instead")


def _obstacle(cudasim: str | None) -> tuple[str, str]:
    """Why hardware cannot be used, and what mends that; two empty strings when it can."""
    if cudasim not in (None, "", "0"):
        return (
            "NUMBA_ENABLE_CUDASIM replaces the GPU by Numba's own simulator",
            "unset NUMBA_ENABLE_CUDASIM",
        )
    if not _driver_present():
        return NO_DRIVER, "install NVIDIA's driver on a machine with its GPU"
    if not numba_cuda_installed():
        return "an NVIDIA driver is present, but numba-cuda is not installed", INSTALL
    try:
        present = bool(numba_cuda().is_available())
    except Exception as error:
        return f"numba-cuda cannot be used ({error})", INSTALL
    if not present:
        return "numba-cuda finds no CUDA GPU that it can use", "see what `nvidia-smi` says"
    return "", ""


def numba_cuda_installed() -> bool:
    """Whether the package numba-cuda, which can compile for a GPU, is installed."""
    return importlib.util.find_spec("numba_cuda") is not None


@functools.cache
def numba_cuda() -> Any:
    """The module numba.cuda.

    Raises
    ------
    BackendError
        When the package numba-cuda is not installed.
    """
    if not numba_cuda_installed():
        raise BackendError(f"numba-cuda is not installed: {INSTALL}")
    return importlib.import_module("numba.cuda")


def _driver_present() -> bool:
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
