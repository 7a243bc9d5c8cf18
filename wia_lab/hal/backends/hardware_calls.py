"""A Python function on a real stream's turn: bytes come to the host first, and go back after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wia_lab.hal.backends import hardware_memory
from wia_lab.hal.backends.base import Span
from wia_lab.hal.backends.hardware_streams import host_function
from wia_lab.hal.kinds import MemoryKind

if TYPE_CHECKING:
    import numpy as np

    from wia_lab.hal.backends.base import Call
    from wia_lab.hal.backends.hardware_driver import Driver
    from wia_lab.hal.backends.hardware_memory import Storage
    from wia_lab.hal.backends.hardware_streams import HardwareStream


def submit(driver: Driver, stream: HardwareStream, call: Call) -> None:
    """Put copies to the host, the function, and copies back into the stream, in this order.

    The function gets arrays of bytes. Where it raises, nothing is copied back by what comes after
    in the stream: the bytes that come back are those that came.
    """
    spans = [each for each in call.arguments if isinstance(each, Span)]
    spans += [each for each in (*call.reads, *call.writes) if isinstance(each, Span)]
    staged = {
        id(storage): _Staged(driver, storage, [each for each in spans if each.storage is storage])
        for storage in {id(each.storage): each.storage for each in spans}.values()
        if not storage.kind.host_access
    }
    api = driver.api
    for each in staged.values():
        driver.call(
            api.cuMemcpyAsync,
            each.copy.pointer,
            each.storage.pointer + each.low,
            each.high - each.low,
            stream.pointer,
        )

    def array(span: Span) -> np.ndarray[Any, Any]:
        found = staged.get(id(span.storage))
        whole: Any = span.storage.array if found is None else found.copy.array
        start = 0 if found is None else found.low
        part: np.ndarray[Any, Any] = whole[span.low - start : span.high - start]
        return part

    arguments = [array(each) if isinstance(each, Span) else each for each in call.arguments]
    for given, span in zip(arguments, call.arguments, strict=True):
        if isinstance(span, Span) and not span.meets(call.writes):
            given.flags.writeable = False  # True cannot be set over the driver's memory
    backup = [(array(each), array(each)) for each in call.writes]

    def run() -> None:
        before = [(target, source.copy()) for target, source in backup]
        try:
            call.function(*arguments)
        except BaseException:
            for target, values in before:
                target[:] = values
            raise

    try:
        host_function(driver, stream, run)
        for span in call.writes:
            found = staged.get(id(span.storage))
            if found is not None:
                driver.call(
                    api.cuMemcpyAsync,
                    span.storage.pointer + span.low,
                    found.copy.pointer + span.low - found.low,
                    span.high - span.low,
                    stream.pointer,
                )
    finally:
        stream.keep(staged)  # last: a wait lets go of what was kept when it began


class _Staged:
    """Bytes of one storage, from the first to the last that the call names, in pinned memory."""

    def __init__(self, driver: Driver, storage: Storage, spans: list[Span]) -> None:
        self.storage = storage
        self.low, self.high = min(each.low for each in spans), max(each.high for each in spans)
        self.copy = hardware_memory.allocate(
            driver, self.high - self.low, MemoryKind.PINNED, storage.device, "staging", None
        )
