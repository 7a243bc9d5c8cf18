"""Errors of launches and of the driver, under the names that hardware gives them.

LaunchError
    CudaAPIError       the driver's answer; `code` is its name, as CUDA_ERROR_INVALID_VALUE
WiaLabError
    BackendError       the back end asked for cannot be used on this machine
    NotOnSimulatorError  a name or option that only the hardware back end has (also
                       NotImplementedError, the class that Numba's own simulator raises)
    JudgeError         the hardware judge's process gave no answer
"""

from __future__ import annotations

from wia_lab.errors import LaunchError, WiaLabError


class CudaAPIError(LaunchError):
    """What the CUDA driver would answer.

    Parameters
    ----------
    code
        The driver's name of the error, such as ``CUDA_ERROR_INVALID_VALUE``.
    message
        One sentence: what was asked, the limit, the way out.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"[{code}] {message}")
        self.code = code
        self.msg = message


class BackendError(WiaLabError):
    """The back end that was asked for cannot be used here."""

    exit_code = 3


class NotOnSimulatorError(WiaLabError, NotImplementedError):
    """A feature that only the hardware back end has."""


class JudgeError(WiaLabError):
    """The hardware judge's process could not be started or gave no readable answer."""
