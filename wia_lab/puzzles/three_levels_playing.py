"""Plays scripts on a learner's three products: what the machine recorded of each call, and errors.

Which operations, launches and copies there were is taken from the back end, which all of them pass;
what the answer says of itself counts for nothing. What a product must be is not known here: the
judge works it out from the script.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import wia_lab.hal as wia
from wia_lab.hal.backends.virtual import VirtualBackend
from wia_lab.puzzles.host_judge import call, file_of
from wia_lab.puzzles.host_puzzle import HostCase, HostRun, Reply
from wia_lab.puzzles.recorders import StepLimit
from wia_lab.timeline import Site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wia_lab.hal.backends.base import Call, KernelLaunch, Span
    from wia_lab.hal.backends.virtual_storage import Storage
    from wia_lab.hal.ops.operation import Operation
    from wia_lab.simt.events import Listener

LEVELS = ("simple", "configured", "own")
PRODUCTS = ("matmul", "batch_matmul")
UNTOUCHED = np.float32(-4321.0)
"""What new memory holds: small enough that a sum which starts from it is seen to do so."""

MOST_STEPS = 30_000
"""Straight pieces of code of one launch: half as many again as 64 elements a thread need."""

Array = np.ndarray[Any, Any]


class RecordingBackend(VirtualBackend):
    """A virtual machine that writes down what it is given, while it is told to."""

    def __init__(self, specification: str, file: str) -> None:
        super().__init__(specification)
        self.is_recording = False
        self.operations: list[dict[str, Any]] = []
        self.launches: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.host_bytes = 0
        self.hazards: list[dict[str, Any]] = []
        self._file = file

    def forget(self) -> None:
        """Begin anew."""
        self.operations, self.launches, self.calls = [], [], []
        self.hazards, self.host_bytes = [], 0

    def allocate(
        self, nbytes: int, kind: wia.MemoryKind, device: int, name: str, numa_node: int | None
    ) -> Storage:
        """Filled with `UNTOUCHED`."""
        made = super().allocate(nbytes, kind, device, name, numa_node)
        whole = nbytes - nbytes % UNTOUCHED.itemsize
        made.array[:whole].view(np.float32)[:] = UNTOUCHED
        return made

    def host_view(self, span: Span, *, reads: bool, writes: bool, site: Site) -> Array:
        """Memory that kernels reach too, and that the host touches now."""
        if self.is_recording and span.kind.kernel_access:
            self.host_bytes += span.high - span.low
        return super().host_view(span, reads=reads, writes=writes, site=site)

    def copy(self, stream: Any, target: Span, source: Span, site: Site) -> None:
        """Copy, and count what goes to the host or comes from it."""
        if self.is_recording and not (target.kind.kernel_access and source.kind.kernel_access):
            self.host_bytes += source.high - source.low
        super().copy(stream, target, source, site)

    def operate(
        self,
        stream: Any,
        device: int,
        operation: Operation,
        inputs: Sequence[Span],
        output: Span,
        site: Site,
    ) -> None:
        """Compute, and note what and how."""
        was, self.is_recording = self.is_recording, False  # it is done as a call; note it once
        if was:
            self.operations.append(_described(operation))
        try:
            super().operate(stream, device, operation, inputs, output, site)
        finally:
            self.is_recording = was

    def call(self, stream: Any, device: int, call: Call, site: Site) -> None:
        """Call a Python function, and note its name."""
        if self.is_recording:
            self.calls.append(call.name)
        super().call(stream, device, call, site)

    def listeners(self) -> Sequence[Listener]:
        """What stops a launch that does not end."""
        return [StepLimit(MOST_STEPS)]

    def launch(self, stream: Any, device: int, launch: KernelLaunch, site: Site) -> None:
        """Launch, and note with how many threads."""
        try:
            super().launch(stream, device, launch, site)
        finally:
            self._note_launch(launch, site)

    def _note_launch(self, launch: KernelLaunch, site: Site) -> None:
        if self.is_recording:
            threads = [b * t for b, t in zip(launch.grid, launch.block, strict=True)]
            line = site.line if isinstance(site, Site) and site.file == self._file else None
            code = launch.kernel.py_func.__code__
            stub = code.co_firstlineno if "NotImplementedError" in code.co_names else None
            self.launches.append(
                {"name": launch.name, "threads": threads, "line": line, "stub": stub}
            )

    def _tell(self) -> None:
        """Keep the hazards instead of raising them."""
        kernels, self._found = self._found, []
        for each in kernels:
            self._note(each.kind, each.severity, each.message, each.line)
        for race in self.timeline.order.take():
            sites = (race.second_site, race.first_site)
            mine = [s for s in sites if isinstance(s, Site) and s.file == self._file]
            self._note("race", "error", race.message, mine[0].line if mine else None)

    def _note(self, kind: str, severity: str, message: str, line: int | None) -> None:
        self.hazards.append({"kind": kind, "severity": severity, "text": message, "line": line})


def _described(operation: Operation) -> dict[str, Any]:
    return {
        "name": operation.name,
        "algorithm": operation.algorithm,
        "products": str(operation.options.get("products", "")),
        "sums": str(operation.accumulate),
    }


def play(answer: type, case: HostCase) -> HostRun:
    """Play a script on one object of the class; what it returned is looked at to the end."""
    file = file_of(answer)
    stage = Stage(case, file)
    made = call(answer, file=file)
    replies, facts = [made], []
    for step in case.steps if made.error is None else ():
        reply, found = stage.ask(made.value, *step)
        replies.append(reply)
        facts.append(found)
        if reply.error is not None or found["hazards"]:
            break
    return HostRun(case, tuple(replies), {"steps": facts})


class Stage:
    """A context on one device, in which products are asked for."""

    def __init__(self, case: HostCase, file: str) -> None:
        self.backend = RecordingBackend(case.options["machine"], file)
        self.context = wia.Context(wia.Machine(self.backend)[case.options.get("device", 0)])
        self.random = np.random.default_rng(case.options["seed"])
        self.file = file
        self.earlier: list[tuple[wia.Tensor, Array]] = []

    def ask(
        self, products: Any, level: str, sizes: tuple[int, int, int], layout: str
    ) -> tuple[Reply, dict[str, Any]]:
        """Ask for one product and look at it."""
        m, k, n = sizes
        given = [tensor(self.context, self.random, shape, layout) for shape in ((m, k), (k, n))]
        (a, _), (b, _) = given
        backend = self.backend
        backend.forget()
        backend.is_recording = True
        reply = call(getattr(products, level), a, b, file=self.file)
        backend.is_recording = False
        facts: dict[str, Any] = {
            "operations": backend.operations,
            "launches": backend.launches,
            "calls": backend.calls,
            "host_bytes": backend.host_bytes,
        }
        if reply.error is None:
            facts |= self._result(reply.value, (a, b), (m, n))
            ended = call(self.context.synchronize, file=self.file)
            reply = reply if ended.error is None else ended
        facts["changed"] = [
            name
            for name, each, (_, values) in zip("ab", (a, b), given, strict=True)
            if reply.error is None and not _holds(each, values)
        ]
        facts["hazards"] = [each for each in backend.hazards if each["severity"] == "error"]
        return replace(reply, value=None), facts

    def _result(self, value: Any, inputs: Any, shape: tuple[int, int]) -> dict[str, Any]:
        """What was returned, and what it holds once whoever takes it next can read it."""
        is_tensor = isinstance(value, wia.Tensor)
        facts = {
            "returned": repr(value)[:80] if is_tensor else type(value).__name__,
            "is_tensor": is_tensor,
            "fits": False,
        }
        if not is_tensor:
            return facts
        facts |= {
            "closed": value.is_closed,
            "elsewhere": value.context is not self.context,
            "is_input": any(_share(value, each) for each in inputs),
            "shape": value.shape,
            "dtype": str(value.dtype),
        }
        facts["fits"] = (
            not (facts["closed"] or facts["elsewhere"] or facts["is_input"])
            and value.shape == shape
            and value.dtype == np.float32
        )
        if facts["fits"]:
            read = call(value.numpy, file=self.file)
            if read.error is not None:
                return facts | {"fits": False, "broken": f"{read.error}: {read.text}"}
            facts["values"] = read.value
            facts["overwritten"] = any(not _holds(each, kept) for each, kept in self.earlier)
            self.earlier.append((value, read.value))
        return facts


def _share(one: wia.Tensor, other: wia.Tensor) -> bool:
    """Whether two open tensors lie in one buffer."""
    return not (one.is_closed or other.is_closed) and one.buffer is other.buffer


def _holds(each: wia.Tensor, values: Array) -> bool:
    """Whether a tensor is there and still has its values."""
    return not each.is_closed and np.array_equal(each.numpy(), values)


def tensor(
    context: wia.Context, random: np.random.Generator, shape: tuple[int, int], layout: str
) -> tuple[wia.Tensor, Array]:
    """A tensor of distinct float32 numbers, and its values; `layout` as for `numbers`."""
    memory, values = numbers(random, shape, layout)
    kind = wia.MemoryKind.UNIFIED if layout == "unified" else wia.MemoryKind.DEVICE
    made = wia.from_numpy(context, memory, memory=kind)
    if layout == "turned":
        return wia.transpose(made), values
    return made[_place(shape, layout)[1]], values


def numbers(
    random: np.random.Generator, shape: tuple[int, int], layout: str
) -> tuple[Array, Array]:
    """Distinct float32 numbers: those of a tensor's memory, and the tensor's own, a view of them.

    `layout` is "plain", or a view: "turned" (columns lie together), "spread" (every second row and
    third column), "inside" (the middle of a larger one); or "unified", for the memory.
    """
    whole, index = _place(shape, layout)
    memory = random.standard_normal(whole).astype(np.float32)
    return memory, memory.T if layout == "turned" else memory[index]


def _place(shape: tuple[int, int], layout: str) -> tuple[tuple[int, int], Any]:
    """The shape of the memory that a tensor lies in, and its place there."""
    rows, columns = shape
    places: dict[str, tuple[tuple[int, int], Any]] = {
        "plain": (shape, ...),
        "unified": (shape, ...),
        "turned": ((columns, rows), ...),
        "spread": ((2 * rows, 3 * columns), (slice(None, None, 2), slice(None, None, 3))),
        "inside": ((rows + 3, columns + 2), (slice(2, -1), slice(1, -1))),
    }
    return places[layout]
