"""Plays scripts on a learner's device query: machines that others use too, and what was chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.hal import (
    Buffer,
    Context,
    ContextConfig,
    Device,
    HalError,
    InvalidValue,
    Machine,
    OutOfMemory,
)
from wia_lab.hal.backends.virtual import VirtualBackend
from wia_lab.puzzles.host_judge import call, file_of
from wia_lab.puzzles.host_puzzle import HostCase, HostRun, Reply

if TYPE_CHECKING:
    from wia_lab.hal import Capabilities, MemoryKind, Stream
    from wia_lab.hal.backends.virtual_storage import Storage

GIB, MIB = 1 << 30, 1 << 20
NONE_FITS = ("LookupError", "UnknownDevice")
LARGE = 64 * MIB  # bytes from which on a buffer is never touched, only held
MOST_STREAMS = 64  # tried; a context without a limit of its own has 32


class _Backend(VirtualBackend):
    """A virtual machine some of whose devices have no unified memory, as a virtual GPU may."""

    def __init__(self, specification: str, without_unified: Iterable[int]) -> None:
        self._without = frozenset(without_unified)
        super().__init__(specification)

    def capabilities(self, device: int) -> Capabilities:
        """By compute capability, less what is switched off."""
        found = super().capabilities(device)
        if device in self._without:
            return replace(found, supports_unified_memory=False)
        return found

    def allocate(
        self, nbytes: int, kind: MemoryKind, device: int, name: str, numa_node: int | None
    ) -> Storage:
        """A large buffer takes none of this computer's memory, and cannot be written."""
        if nbytes < LARGE:
            return super().allocate(nbytes, kind, device, name, numa_node)
        made = super().allocate(1, kind, device, name, numa_node)
        return replace(made, array=np.broadcast_to(made.array, nbytes))


class _Counted(list[Context]):
    """The contexts of a device; counts those that were ever opened."""

    opened = 0

    def append(self, context: Context) -> None:
        """As any list."""
        self.opened += 1
        super().append(context)


class Stage:
    """One machine, what others hold of it, and what the learner opened."""

    def __init__(self, specification: str, without_unified: Iterable[int] = ()) -> None:
        self.machine = Machine(_Backend(specification, without_unified))
        for device in self.machine:
            device.contexts = _Counted()
        self.others: list[Context] = []
        self.mine: list[Context] = []

    @property
    def opened(self) -> int:
        """Contexts that were opened so far, closed ones included."""
        return sum(device.contexts.opened for device in self.machine)  # type: ignore[attr-defined]

    def others_do(self, verb: str, arguments: Any) -> dict[str, Any]:
        """Somebody else opens or closes a context; `blocked` is what stood in the way."""
        if verb == "leave":
            self.others[arguments[0]].close()
            return {}
        config = ContextConfig(memory_pool_size=arguments[1] * GIB, exclusive=verb == "seize")
        try:
            self.others.append(Context(self.machine[arguments[0]], config))
        except HalError as error:
            return {"blocked": f"{type(error).__name__}: {error}"}
        return {}

    def look(self, needs: Iterable[str]) -> list[dict[str, Any]]:
        """What there is to know of each device; of what it can do, no more than `needs`."""
        return [_look(device, needs) for device in self.machine]


def _look(device: Device, needs: Iterable[str]) -> dict[str, Any]:
    books = device.memory.statistics
    return {
        "name": device.info.name,
        "bandwidth": device.info.memory_bandwidth,
        "size": device.info.memory_size,
        "free": books.free_bytes,
        "largest": books.largest_free_bytes,
        "able": {name: bool(getattr(device.capabilities, name)) for name in needs},
        "seized": any(context.config.exclusive for context in device.contexts),
        "contexts": len(device.contexts),
    }


def play(answer: type, case: HostCase) -> HostRun:
    """Play a script on one object of the class."""
    stage = Stage(case.options["machine"], case.options.get("without_unified", ()))
    file = file_of(answer)
    made = call(answer, file=file)
    replies, facts = [made], []
    for step in case.steps if made.error is None else ():
        verb, *arguments = step
        if verb in _OF_A_CONTEXT and arguments[0] >= len(stage.mine):
            break  # it was never opened, which the judge has seen
        reply = Reply()
        found: dict[str, Any] = {}
        if verb in _MINE:
            reply, found = _MINE[verb](stage, made.value, arguments, file)
        else:
            found = stage.others_do(verb, arguments)
        replies.append(reply)
        facts.append(found)
        if "blocked" in found:
            break
    return HostRun(case, tuple(replies), {"steps": facts})


def _choose(stage: Stage, query: Any, arguments: Any, file: str) -> tuple[Reply, dict[str, Any]]:
    gib, needs = arguments
    seen = stage.look(needs)
    before = stage.opened
    reply = call(query.choose, stage.machine, gib * GIB, needs, file=file)
    value = reply.value
    right = isinstance(value, Device) and value.machine is stage.machine
    facts = {
        "seen": seen,
        "got": value.number if right else None,
        "returned": repr(value)[:60],
        "opened": stage.opened - before,
        "left": sum(len(device.contexts) for device in stage.machine)
        - sum(each["contexts"] for each in seen),
    }
    return replace(reply, value=None), facts


def _open(stage: Stage, query: Any, arguments: Any, file: str) -> tuple[Reply, dict[str, Any]]:
    number, gib, streams, timeout = arguments
    device = stage.machine[number]
    before = device.memory.statistics
    facts: dict[str, Any] = {"seen": _look(device, ())}
    reply = call(query.open, device, gib * GIB, streams, timeout, file=file)
    context = reply.value
    facts["returned"] = repr(context)[:80]
    facts["context"] = isinstance(context, Context) and not context.is_closed
    if facts["context"]:
        facts["device"] = context.device is device
        facts["same"] = any(context is other for other in stage.mine)
        facts["exclusive"] = context.config.exclusive
        facts["reserved"] = before.free_bytes - device.memory.statistics.free_bytes
        facts["over"] = _goes_over(context, gib * GIB)
        facts["streams"] = _most_streams(context)
        facts["timeout"] = context.timeout
        stage.mine.append(context)
    return replace(reply, value=None), facts


def _goes_over(context: Context, nbytes: int) -> bool:
    """Whether it may have a byte more than it asked for."""
    try:
        context.allocate(nbytes + 1).close()
    except OutOfMemory:
        return False
    return True


def _most_streams(context: Context) -> int:
    """How many may be open at a time."""
    made: list[Stream] = []
    try:
        while len(made) < MOST_STREAMS:
            made.append(context.create_stream())
    except InvalidValue:
        pass
    for stream in made:
        stream.close()
    return len(made)


def _fill(stage: Stage, query: Any, arguments: Any, file: str) -> tuple[Reply, dict[str, Any]]:
    """Take all that a context was promised, now that others are there too."""
    del query, file
    number, gib = arguments
    try:
        stage.mine[number].allocate(gib * GIB).close()
    except HalError as error:
        return Reply(), {"error": f"{type(error).__name__}: {error}"}
    return Reply(), {"error": None}


def _place(stage: Stage, query: Any, arguments: Any, file: str) -> tuple[Reply, dict[str, Any]]:
    number, mib = arguments
    context = stage.mine[number]
    reply = call(query.place, context, mib * MIB, file=file)
    value = reply.value
    pair = isinstance(value, tuple | list) and len(value) == 2
    facts: dict[str, Any] = {
        "pair": pair and all(isinstance(each, Buffer) for each in value),
        "returned": repr(value)[:80],
        "unified": context.device.capabilities.supports_unified_memory,
    }
    if facts["pair"]:
        facts["same"] = value[0] is value[1]
        facts["kinds"] = [each.kind.value for each in value]
        facts["mine"] = all(each.context is context for each in value)
        facts["sizes"] = [each.nbytes for each in value]
        facts["closed"] = any(each.is_closed for each in value)
    return replace(reply, value=None), facts


_MINE = {"choose": _choose, "open": _open, "fill": _fill, "place": _place}
_OF_A_CONTEXT = {"fill", "place"}
