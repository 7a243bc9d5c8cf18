"""Recovery (§3.9): what to do when memory runs out, time passes, or the device is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from wia_lab.hal.checks import (
    checked_callable,
    checked_context,
    checked_limit,
    checked_whole,
    refuse,
)
from wia_lab.hal.errors import DeviceLost, OutOfMemory, TimedOut

if TYPE_CHECKING:
    from wia_lab.hal.context import Context

T = TypeVar("T")

LONGER = 2.0
"""How many times longer each further wait is."""


def run_safely(
    submit: Callable[[], T], context: Context, *, attempts: int = 3, longest: float = 60.0
) -> T:
    """Submit work, wait for the context, and recover from what can be recovered from.

    The sources' `safe_compute`, with an end to its recursion: when memory runs out, buffers that
    nobody refers to are freed and `submit` is called again, `attempts` times in all. When the
    context's timeout passes, the same work is waited for longer, twice as long each time, up to
    `longest` seconds a wait: it is not submitted twice, as it still runs. A lost device is reset.

    Returns
    -------
    object
        What `submit` returned.

    Raises
    ------
    OutOfMemory
        After the last attempt.
    TimedOut
        After the longest wait.
    DeviceLost
        After the reset; the message names the buffers that were lost.
    """
    checked_callable("run_safely: submit", submit)
    checked_context("run_safely: context", context)
    checked_whole("run_safely: attempts", attempts, 1)
    if checked_limit("run_safely: longest", longest) is None:
        refuse("run_safely: longest", longest, "give more than 0 seconds")
    try:
        result = _submitted(submit, context, attempts)
        _waited(context, longest)
    except DeviceLost as error:
        gone = ", ".join(context.device.reset()) or "none"
        raise DeviceLost(
            f"{error}; device {context.device.number} was reset, its contexts are closed, and "
            f"these buffers are lost: {gone}"
        ) from error
    return result


def _submitted(submit: Callable[[], T], context: Context, attempts: int) -> T:
    for _ in range(attempts - 1):
        try:
            return submit()
        except OutOfMemory:
            context.collect()
    return submit()


def _waited(context: Context, longest: float) -> None:
    allowed = context.timeout
    while True:
        try:
            context.synchronize(timeout=allowed)
        except TimedOut:
            if allowed is None or allowed >= longest:
                raise
            allowed = min(allowed * LONGER, longest)
        else:
            return
