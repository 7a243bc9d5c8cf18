"""Demos without a kernel: streams on engines, a heap under a trace, devices and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from wia_lab import memory
from wia_lab.memory.trace import RECORDED, load_trace
from wia_lab.timeline import Buffer, Event, Timeline, Work, virtual_machine
from wia_lab.viz.demos.demo import WORDS, Demo, choice, slider, stepper
from wia_lab.viz.demos.source import Refused, bounded, executed
from wia_lab.viz.engines import stream_timeline
from wia_lab.viz.heaps import heap_history, heap_map
from wia_lab.viz.links import topology

if TYPE_CHECKING:
    from wia_lab.viz.picture import Picture

MIB = 1 << 20
NS_A_BYTE = 1e9 / 40e9  # the demo's kernel: 40 GB/s, so that it takes about as long as a copy

SCHEDULE = """\
def schedule(gpu, batches, streams):
    for batch in range(batches):
        stream = batch % streams
        gpu.upload(stream, batch)
        gpu.kernel(stream, batch)
        gpu.download(stream, batch)
"""

ALLOCATORS = """\
# any of these, or one of your own: what takes allocate(size) and free(block)
def first_fit():
    return memory.Heap("64GiB", fit="first")

def best_fit():
    return memory.Heap("64GiB", fit="best")

def buddy():
    return memory.Buddy(memory.Heap("64GiB"), "16GiB")

def pool():
    return memory.Pool(memory.Heap("64GiB"))
"""


class ScheduledGPU:
    """What a schedule in the text may ask of the device; each call is submitted to a stream."""

    def __init__(self, chunk: int, streams: int) -> None:
        self.chunk, self.timeline = chunk, Timeline()
        self._machine = virtual_machine("H100")
        self._device = self._machine.devices[0]
        self._streams = [self.timeline.stream(f"stream {n}") for n in range(streams)]
        self._buffers: dict[str, Buffer] = {}

    def upload(self, stream: int, batch: int) -> None:
        """Copy a batch to the device."""
        route = self._machine.host_route(0, upload=True)
        duration = route.duration(self.chunk)
        self._submit(stream, f"up {batch}", duration, route.engines, (), (f"in {batch}",))

    def kernel(self, stream: int, batch: int) -> None:
        """Compute a batch's result from it."""
        work = (f"in {batch}",), (f"out {batch}",)
        duration = round(self.chunk * NS_A_BYTE)
        self._submit(stream, f"run {batch}", duration, (self._device.compute,), *work)

    def download(self, stream: int, batch: int) -> None:
        """Copy a batch's result back."""
        route = self._machine.host_route(0, upload=False)
        duration = route.duration(self.chunk)
        self._submit(stream, f"down {batch}", duration, route.engines, (f"out {batch}",), ())

    def wait(self, stream: int, other: int) -> None:
        """Let a stream wait for what another has been given so far."""
        event = Event(f"event of stream {other}")
        self.timeline.record(event, self._streams[other])
        self.timeline.wait(self._streams[stream], event)

    def _submit(
        self,
        stream: int,
        name: str,
        duration: int,
        engines: Any,
        reads: tuple[str, ...],
        writes: tuple[str, ...],
    ) -> None:
        found = [
            tuple(self._buffers.setdefault(n, Buffer(n, self.chunk)).region() for n in names)
            for names in (reads, writes)
        ]
        work = Work(name, duration, engines, reads=found[0], writes=found[1], kind="copy")
        self.timeline.submit(self._streams[stream], work)


class StreamTimeline(Demo):
    """Batches copied in, computed and copied out on several streams."""

    title = "Stream timeline: copies and kernels on the engines of one device"
    question = "Which engines work at the same time, and how long does it take in all?"
    edited = "The schedule. gpu has upload, kernel, download and wait(stream, other):"

    def __init__(self) -> None:
        controls = {
            "batches": slider(1, 16, 6, "batches"),
            "chunk": slider(1, 64, 16, "MiB a batch"),
            "streams": slider(1, 4, 3, "streams"),
        }
        super().__init__(controls, SCHEDULE)

    def picture(self, **values: Any) -> Picture:
        made = executed(self.source, self.file)
        if not callable(made.get("schedule")):
            raise Refused("no function schedule(gpu, batches, streams) is defined here")
        gpu = ScheduledGPU(values["chunk"] * MIB, values["streams"])
        try:
            with bounded(self.file):
                made["schedule"](gpu, values["batches"], values["streams"])
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"schedule: {type(error).__name__}: {error}") from error
        gpu.timeline.synchronize()
        return stream_timeline(gpu.timeline)


class HeapStepper(Demo):
    """A recorded program's allocations, replayed on an allocator of choice."""

    title = "Heap stepper: a real program's allocations, on an allocator of your choice"
    question = "Where are the holes now, and how much of the heap is held?"
    edited = "The allocators. Each function without parameters is one to choose:"

    def __init__(self) -> None:
        self._known: tuple[Any, Any] = (None, None)
        step, row = stepper(0, 10**6, 2000, "event")  # the trace says how many there are
        names = ["first_fit", "best_fit", "buddy", "pool"]
        controls = {
            "event": step,
            "trace": choice(list(RECORDED), "kv_cache_serving", "trace"),
            "allocator": choice(names, "first_fit", "allocator"),
        }
        super().__init__(controls, ALLOCATORS, {"event": row})

    def picture(self, **values: Any) -> Picture:
        key = (self.source, values["trace"], values["allocator"])
        if self._known[0] != key:
            self._known = (key, self._history(values["trace"], values["allocator"]))
        history = self._known[1]
        self.controls["event"].max = history.events
        return heap_map(history, event=values["event"])

    def _history(self, trace: str, name: str) -> Any:
        made = executed(self.source, self.file, {"memory": memory})
        names = [each for each, value in made.items() if callable(value)]
        control = self.controls["allocator"]
        if list(control.options) != names and names:
            control.options = names
            name = control.value
        if name not in made:
            raise Refused("no function that returns an allocator is defined here")
        try:
            with bounded(self.file):
                return heap_history(load_trace(trace), made[name]())
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"{name}: {type(error).__name__}: {error}") from error


class TopologyDemo(Demo):
    """Devices and links of a machine, and what a copy between two of them takes."""

    title = "Topology: devices, links, and the way of one copy"
    question = "How long does the copy take directly, and how long through the host?"

    def __init__(self) -> None:
        machines = ["2xH100-nvlink", "4xA100-nvlink", "8xA100-pcie-2numa", "4xT4-pcie"]
        controls = {
            "machine": widgets.Combobox(
                value="4xA100-nvlink",
                options=machines,
                ensure_option=False,
                continuous_update=False,
                description="machine",
                style=WORDS,
            ),
            "source": slider(0, 7, 0, "from device"),
            "target": slider(0, 7, 2, "to device"),
            "mib": slider(1, 1024, 256, "MiB"),
            "staged": widgets.Checkbox(False, description="through the host", indent=False),
        }
        super().__init__(controls)

    def picture(self, **values: Any) -> Picture:
        machine = virtual_machine(values["machine"])
        count = len(machine.devices)
        for name in ("source", "target"):
            self.controls[name].max = count - 1
        source, target = min(values["source"], count - 1), min(values["target"], count - 1)
        if source == target:  # nothing to copy: the links alone
            return topology(machine)
        copy = (source, target, values["mib"] * MIB)
        return topology(machine, copy=copy, staged=values["staged"])
