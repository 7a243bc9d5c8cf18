"""What the HAL raises: WIA-AI-011's error codes (§3.9) as an enum, and an exception for each.

HalError
    OutOfMemory        OUT_OF_MEMORY (also `wia_lab.errors.OutOfMemoryError`, a MemoryError)
    DeviceLost         DEVICE_LOST
    TimedOut           TIMEOUT (also a TimeoutError)
    UnknownDevice      INVALID_DEVICE (also an IndexError)
    InvalidValue       INVALID_VALUE (also a ValueError)
    ForeignHandle      INVALID_HANDLE: a stream, event or buffer of another machine or context
    Closed             CLOSED: used after it was closed, or in another process
    AccessRefused      WRONG_MEMORY: memory of a kind, or a device, that the access cannot reach
    NotReady           NOT_READY: it has not happened yet
    DeviceBusy         EXCLUSIVE: another context has the device for itself
    KernelError        KERNEL: text that is no kernel, or a kernel that cannot be compiled

The sources name four codes and no numbers: 0 for success, then theirs in their order, then ours.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from wia_lab import errors

_PACKAGE = "wia_lab."


class ErrorCode(IntEnum):
    """How a call ended."""

    SUCCESS = 0
    OUT_OF_MEMORY = 1
    DEVICE_LOST = 2
    TIMEOUT = 3
    INVALID_VALUE = 4
    INVALID_DEVICE = 5
    INVALID_HANDLE = 6
    CLOSED = 7
    WRONG_MEMORY = 8
    NOT_READY = 9
    EXCLUSIVE = 10
    KERNEL = 11

    @property
    def text(self) -> str:
        """What the code means, in words."""
        return _TEXTS[self]


_TEXTS = {
    ErrorCode.SUCCESS: "success",
    ErrorCode.OUT_OF_MEMORY: "out of memory",
    ErrorCode.DEVICE_LOST: "the device was lost",
    ErrorCode.TIMEOUT: "the time allowed has passed",
    ErrorCode.INVALID_VALUE: "a value that cannot be",
    ErrorCode.INVALID_DEVICE: "no such device",
    ErrorCode.INVALID_HANDLE: "a handle of something else",
    ErrorCode.CLOSED: "used after it was closed",
    ErrorCode.WRONG_MEMORY: "memory that cannot be reached so",
    ErrorCode.NOT_READY: "not ready yet",
    ErrorCode.EXCLUSIVE: "the device is taken",
    ErrorCode.KERNEL: "a kernel that cannot be compiled",
}


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """Everything about one error: what, where, and the sentence."""

    code: ErrorCode
    file: str
    line: int
    function: str
    message: str


class HalError(errors.WiaLabError):
    """Base of the HAL's errors.

    Attributes
    ----------
    code : ErrorCode
        Which one it is.
    details : ErrorDetails
        With file, line and function of the caller, outside this package.
    """

    code = ErrorCode.INVALID_VALUE

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(message, **more)
        file, line, function = _caller()
        self.details = ErrorDetails(self.code, file, line, function, message)


class OutOfMemory(HalError, errors.OutOfMemoryError):
    """No memory of the size asked is left; requested, free, largest hole and holders are told."""

    code = ErrorCode.OUT_OF_MEMORY


class DeviceLost(HalError):
    """The device does not answer any more, and what it held is gone."""

    code = ErrorCode.DEVICE_LOST


class TimedOut(HalError, TimeoutError):
    """The work did not end within the time allowed; it goes on, and can be waited for again."""

    code = ErrorCode.TIMEOUT


class UnknownDevice(HalError, IndexError):
    """A device number that the machine has not."""

    code = ErrorCode.INVALID_DEVICE


class InvalidValue(HalError, ValueError):
    """A size, an offset or an option that cannot be."""

    code = ErrorCode.INVALID_VALUE


class ForeignHandle(HalError):
    """A stream, event or buffer that belongs to another machine or context."""

    code = ErrorCode.INVALID_HANDLE


class Closed(HalError):
    """Something used after it was closed, or in another process than it was made in."""

    code = ErrorCode.CLOSED


class AccessRefused(HalError):
    """Memory of a kind, or of a device, that this access cannot reach."""

    code = ErrorCode.WRONG_MEMORY


class NotReady(HalError):
    """A question about something that has not happened yet."""

    code = ErrorCode.NOT_READY


class DeviceBusy(HalError):
    """A device that a context has for itself, or that others use already."""

    code = ErrorCode.EXCLUSIVE


class KernelError(HalError):
    """A kernel's text is outside the language, or what it says cannot be compiled."""

    code = ErrorCode.KERNEL


def _caller() -> tuple[str, int, str]:
    """File, line and function of the nearest frame outside this package.

    By the module's name: code that dataclasses generate has no file.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - the documented way to walk frames
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(_PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
