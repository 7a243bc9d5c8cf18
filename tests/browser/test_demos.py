"""Every demo in a real JupyterLab: each control moved, the page compared with fresh runs."""

from __future__ import annotations

import linecache
import math
from itertools import count
from types import SimpleNamespace

import ipywidgets as widgets
import numba
import numpy as np
import pytest

from wia_lab import cuda, memory, simulate, viz
from wia_lab.memory.trace import load_trace
from wia_lab.timeline import Buffer, Timeline, Work, virtual_machine
from wia_lab.viz import demos, phases, steps

NOTEBOOKS = {
    "warp-explorer": "WarpExplorer",
    "bank-explorer": "BankExplorer",
    "tile-stepper": "TileStepper",
    "stream-timeline": "StreamTimeline",
    "heap-stepper": "HeapStepper",
    "topology": "TopologyDemo",
    "roofline": "RooflineDemo",
    "step-debugger": "WarpDebugger",
}


def moves(control):
    """Return one other value for a control, and for a slider an end of it or two steps."""
    if isinstance(control, widgets.IntSlider):
        way = control.step if control.value < control.max else -control.step
        return [control.value + way]
    if isinstance(control, widgets.Dropdown):
        values = [each[1] if isinstance(each, tuple) else each for each in control.options]
        return [values[(values.index(control.value) + 1) % len(values)]]
    if isinstance(control, widgets.SelectMultiple):
        return [control.options[1:2], control.options[::2]]
    return [not control.value] if isinstance(control, widgets.Checkbox) else ["2xH100-nvlink"]


# What the page must show, by calls of this process on the text that stands on the page
NUMBERED = count()
TYPES = {n: getattr(numba, n) for n in ("float32", "float64", "int32", "int64")}
OF_SIZE = {1: np.uint8, 2: np.float16, 4: np.float32, 8: np.float64, 16: np.complex128}


def typed(text, **values):
    """Return the kernels of a text, compiled as a notebook's cell would."""
    file = f"<page {next(NUMBERED)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"cuda": cuda, "np": np, "math": math, **TYPES, **values}
    before = {*names, "__builtins__"}
    exec(compile(text, file, "exec", dont_inherit=True), names)  # noqa: S102 - the demo's own text
    return {name: value for name, value in names.items() if name not in before}


def product(kernel, size, device="H200"):
    """Return the report of a square product by blocks of 8 × 8."""
    a = (np.arange(size * size) % 7).reshape(size, size).astype(np.float32)
    grid = (size // 8, size // 8)
    return simulate(
        kernel, grid, (8, 8), a, a.T.copy(), np.zeros((size, size), np.float32), device=device
    )


def warp_explorer(text, stride, offset, size, show):
    """One warp's load of a, or its store."""
    arrays = np.zeros(32, OF_SIZE[size]), np.zeros(31 * 32 + 32, OF_SIZE[size])
    report = simulate(typed(text)["read"], 1, 32, *arrays, stride, offset)
    return viz.sectors(report, array=show)


def bank_explorer(text, stride, padding, width):
    """One warp's load of a tile."""
    kernel = typed(text, CELLS=31 * 32 + 31 * 4 + 1, ELEMENT=OF_SIZE[width])["read_tile"]
    return viz.banks(
        simulate(kernel, 1, 32, np.zeros(32, OF_SIZE[width]), stride, padding), kind="load"
    )


def tile_stepper(text, step, tiles, block):
    """One block of a product between two barriers."""
    found = phases.phases(product(typed(text, TILE=8)["tiled"], 8 * tiles), block=block)
    return phases.phase_map(found, step - 1, block=block)


def roofline(text, size, device):
    """Both products under one device's roofs."""
    made = typed(text, TILE=8)
    return viz.roofline({n: product(made[n], size, device) for n in ("naive", "tiled")}, device)


def step_debugger(text, step, chosen):
    """The walk of a warp that counts Collatz's steps."""
    kernel = typed(text)["steps_to_one"]
    report = simulate(kernel, 1, 32, np.zeros(32, np.int64), np.arange(1, 33))
    return steps.step_map(report, report.step(0, 0, limit=2000), step - 1, tuple(chosen))


def heap_stepper(text, event, trace, allocator):
    """A trace on one of the allocators of the text."""
    made = typed(text, memory=memory)[allocator]()
    return viz.heap_map(viz.heap_history(load_trace(trace), made), event=event)


def topology(_, machine, source, target, mib, staged):
    """A machine and a copy."""
    made = virtual_machine(machine)
    last = len(made.devices) - 1
    copy = min(source, last), min(target, last), mib << 20
    if copy[0] == copy[1]:  # nothing to copy: the links alone
        return viz.topology(made)
    return viz.topology(made, copy=copy, staged=staged)


def stream_timeline(text, batches, chunk, streams):
    """A schedule's copies and kernels; its kernel takes a nanosecond for 40 bytes."""
    machine, clock, size, buffers = virtual_machine("H100"), Timeline(), chunk << 20, {}
    made = [clock.stream(f"stream {n}") for n in range(streams)]
    up, down = (machine.host_route(0, upload=way) for way in (True, False))
    compute = (machine.devices[0].compute,)

    def at(*names):
        return tuple(buffers.setdefault(name, Buffer(name, size)).region() for name in names)

    def submit(stream, name, nanoseconds, engines, reads, writes):
        work = Work(name, nanoseconds, engines, reads=at(*reads), writes=at(*writes))
        clock.submit(made[stream], work)

    def upload(stream, batch):
        submit(stream, f"up {batch}", up.duration(size), up.engines, [], [f"in {batch}"])

    def kernel(stream, batch):
        submit(stream, f"run {batch}", round(size / 40), compute, [f"in {batch}"], [f"out {batch}"])

    def download(stream, batch):
        submit(stream, f"down {batch}", down.duration(size), down.engines, [f"out {batch}"], [])

    gpu = SimpleNamespace(upload=upload, kernel=kernel, download=download)
    typed(text)["schedule"](gpu, batches, streams)
    clock.synchronize()
    return viz.stream_timeline(clock)


FRESH = {
    "warp-explorer": warp_explorer,
    "bank-explorer": bank_explorer,
    "tile-stepper": tile_stepper,
    "stream-timeline": stream_timeline,
    "heap-stepper": heap_stepper,
    "topology": topology,
    "roofline": roofline,
    "step-debugger": step_debugger,
}


def fresh(name, own):
    """Return the twin that calls of this process give for a demo's text and controls."""
    return str(FRESH[name](own.source, **{n: each.value for n, each in own.controls.items()}))


# A replacement in each demo's own text that makes another picture of it
OTHER = {
    "warp-explorer": ("out[i]", "out[31 - i]"),
    "bank-explorer": ("j = i * stride", "j = i // 2 * stride"),
    "tile-stepper": ("t * TILE + x", "t * TILE + x // 2"),
    "stream-timeline": ("download(stream,", "download((stream + 1) % streams,"),  # a hazard
    "heap-stepper": ('memory.Heap("64GiB", fit="best")', 'memory.Heap("32GiB", fit="first")'),
    "roofline": ("k in range(TILE)", "k in range(TILE // 2)"),
    "step-debugger": ("3 * n + 1", "n + 1"),
}
# Replacements in the demo's own text that make it wrong, and what is said of it
RACE, OUTSIDE = "race", "out-of-bounds"
BROKEN = {
    "warp-explorer": (
        ("out[i] = a[i * stride + offset]", "out[0] = i", RACE),
        ("+ offset]", "+ offset + 100000]", OUTSIDE),
    ),
    "bank-explorer": (
        ("    cuda.syncthreads()\n", "", RACE),
        ("tile[j +", "tile[9999 + j +", OUTSIDE),
    ),
    "tile-stepper": (
        ("        cuda.syncthreads()\n    c[", "    c[", RACE),
        ("a[row,", "a[row + 1000,", OUTSIDE),
    ),
    "roofline": (
        ("c[row, column]", "c[0, 0]", RACE),
        ("a[row,", "a[row + 1000,", OUTSIDE),
    ),
    "step-debugger": (
        ("out[i]", "out[0]", RACE),
        ("a[i]", "a[i + 1]", OUTSIDE),
    ),
    "stream-timeline": (("upload(stream", "upload(99", "list index out of range"),),
    "heap-stepper": (("def best_fit():\n", "def best_fit():\n    1 / 0\n", "division by zero"),),
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_demo(opened, name, tmp_path):
    """Each control, button and edit changes the page to what a run of its own gives."""
    own, page = getattr(demos, NOTEBOOKS[name])(), opened(name)
    if own.editor is not None:
        assert page.typed() == own.source
    page.shows(fresh(name, own))
    for control in own.controls.values():
        for value in moves(control):
            page.put(control, value)
            page.shows(fresh(name, own))
    if page.page.locator(".widget-button", has_text="forward").count():
        walk(page, own)
    page.page.screenshot(path=tmp_path / f"{name}.png")
    if own.editor is not None:
        edit_live(page, own)
    predict_first(page, own)


def walk(page, own):
    """The buttons take the stepper one step back and forward, and not below its start."""
    line = next(iter(own.controls.values()))
    for name, by in (("back", -1), ("back", -1), ("forward", 1)):
        page.button(name)
        line.value = max(line.value + by, line.min)
        page.shows(fresh(page.name, own))
        assert page.at(line) == line.value


def edit_live(page, own):
    """Another kernel gets its picture, each fault is told in the picture's place, and is undone."""
    good, said = own.source, fresh(page.name, own)
    half = good[: good.index("\n", good.index("def ")) - 2]
    own.editor.value = good.replace(*OTHER[page.name])
    other = fresh(page.name, own)
    assert other != said
    page.edit(own.source)
    page.shows(other)
    own.editor.value = good
    for wrong, told in [
        (half, ("line ", "this is not Python yet")),
        *((good.replace(old, new), (told,)) for old, new, told in BROKEN[page.name]),
    ]:
        assert wrong != good
        page.edit(wrong)
        page.diagnoses(*told)
        page.edit(good + "\n")
        page.shows(said)
    in_one_movement(page, half, other, good, said)


def in_one_movement(page, half, other, good, said):
    """Who types and presses a button at once gets what the button says of what was typed."""
    page.type(half)
    page.button("Run")
    page.diagnoses("this is not Python yet")
    page.type(good.replace(*OTHER[page.name]))
    page.button("Run")
    page.shows(other)
    page.type(half)
    page.button("The first one again")
    page.shows(said)
    assert page.typed() == good


def predict_first(page, own):
    """With the switch on, the answer is hidden, in the text too, until Show is pressed."""
    said = page.twin()
    for _ in range(2):  # and a second time by a change, there and back
        page.check("predict first").set_checked(True)
        page.asks(own.question)
        page.button("Show")
        page.shows(said)
        page.check("predict first").set_checked(False)
    page.check("in words").set_checked(True)
    page.page.locator(".widget-html pre.twin").wait_for(state="visible")


def test_the_last_of_many_values_is_shown(opened):
    """After sixty changes without a pause the page shows the last one, as simulate counts it."""
    own, page = demos.WarpExplorer(), opened("warp-explorer")
    page.put(own.controls["stride"], 1)
    handle = page.control(own.controls["stride"]).locator(".noUi-handle")
    handle.focus()
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight") * 20:
        page.page.keyboard.press(key)
    page.slide(own.controls["stride"], 21)  # already there, unless a key was lost
    own.controls["stride"].value = 21
    page.shows(fresh("warp-explorer", own))
    # lane 31 loads at 31 × 21 × 4 bytes, and no two lanes share a sector
    assert "32 lanes, 32 sectors: " in page.twin()
    assert "sector of bytes +2,592" in page.twin()
