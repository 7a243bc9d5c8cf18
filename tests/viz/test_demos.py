"""Demos without a browser: their answers, the switch, live edits and hostile ones."""

from __future__ import annotations

import gc
import itertools
import linecache
import re
import sys
import threading
import tracemalloc
from types import SimpleNamespace

import ipywidgets as widgets
import numpy as np
import pytest

from wia_lab import cuda, simulate
from wia_lab.errors import SimulationLimit
from wia_lab.viz import demos
from wia_lab.viz.demos import source
from wia_lab.viz.demos.demo import Diagnosis
from wia_lab.viz.picture import MOST_BYTES, Sentence


@pytest.fixture(params=demos.__all__)
def demo(request):
    """Each demo, newly opened."""
    return getattr(demos, request.param)()


def every_value(control):
    """Ends, middle and neighbours of a control's range."""
    if isinstance(control, widgets.IntSlider):
        middle = (control.min + control.max) // 2
        return [control.min, control.min + control.step, middle, control.max]
    if isinstance(control, widgets.Dropdown):
        return [each[1] if isinstance(each, tuple) else each for each in control.options]
    return [True, False] if isinstance(control, widgets.Checkbox) else []


def test_every_control_gives_a_picture(demo):
    """At every end of every control there is a picture, under 300 kB, and no diagnosis."""
    assert not isinstance(demo.shown, (Diagnosis, Sentence))
    for control in demo.controls.values():
        for value in every_value(control):
            control.value = value
            assert not isinstance(demo.shown, (Diagnosis, Sentence)), (control.description, value)
            assert len(demo._image.value) < MOST_BYTES
            assert str(demo.shown).splitlines()[0][:40] in demo._twin.value.replace("&#x27;", "'")


def test_predict_first_hides_the_answer(demo):
    """With the switch on neither image nor text tells; Show does, and a change hides it again."""
    answer = str(demo.shown)
    demo.predict.value = True
    assert demo._twin.value == ""
    assert demo.question in demo._image.value
    demo.reveal.click()
    assert answer.splitlines()[-1][:30] in demo._twin.value
    slider = next(each for each in demo.controls.values() if isinstance(each, widgets.IntSlider))
    slider.value = slider.min if slider.value > slider.min else slider.max
    assert demo._twin.value == ""


BAD = {
    "no Python": ("def read(:", "line 1: this is not Python yet"),
    "no kernel": ("x = 1", "no kernel is defined here"),
    "fails": ("1 / 0", "ZeroDivisionError: division by zero"),
    "unknown name": ("@cuda.jit\ndef k(o, a, s, t):\n    o[0] = foo", "foo is not defined"),
    "race": ("@cuda.jit\ndef k(o, a, s, t):\n    o[0] = cuda.grid(1)", "race: line 3"),
    "off its array": (
        "@cuda.jit\ndef k(o, a, s, t):\n    o[cuda.grid(1) + 9] = 1",
        "out-of-bounds",
    ),
    "too few parameters": ("@cuda.jit\ndef k(o):\n    o[0] = 1", "k takes 1 argument (o)"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_kernel_gets_its_diagnosis_and_the_next_edit_a_picture(case):
    """The diagnosis stands where the picture stood; the first kernel brings the picture back."""
    text, said = BAD[case]
    demo = demos.WarpExplorer()
    good = str(demo.shown)
    demo.editor.value = text
    assert isinstance(demo.shown, Diagnosis)
    assert said in str(demo.shown)
    assert 'role="alert"' in demo._image.value
    demo.reset.click()
    assert str(demo.shown) == good


def test_an_edit_heard_while_another_thread_draws_is_what_is_shown():
    """A picture of the text before, still drawn in another thread, is not put over the answer."""
    demo = demos.WarpExplorer()
    draw, drawing, edited = demo.picture, threading.Event(), threading.Event()

    def slow(**values):
        made = draw(**values)
        drawing.set()
        edited.wait(0.5)  # only without turns does the edit come to its end before this returns
        return made

    demo.picture = slow
    pressed = threading.Thread(target=demo.run.click)
    pressed.start()
    assert drawing.wait(60)
    demo.editor.value = "1 / 0"
    edited.set()
    pressed.join(60)
    assert "division by zero" in str(demo.shown)
    assert "division by zero" in demo._image.value
    assert "division by zero" in demo._twin.value


def test_every_control_speaks_where_a_change_came_from(monkeypatch):
    """After a change heard in another thread, all that a class can touch has spoken from there."""
    demo, spoke = demos.TileStepper(), {}

    def said(each, key=None):
        if key == "disabled":
            spoke.setdefault(each, set()).add(threading.current_thread())

    monkeypatch.setattr(widgets.Widget, "send_state", said)
    heard = threading.Thread(target=demo.run.click)
    heard.start()
    heard.join(60)
    names = {each.description for each, threads in spoke.items() if threads == {heard}}
    assert {"step", "back", "forward", "Run", "The first one again", "Show"} < names


def test_nothing_below_moves_when_a_diagnosis_takes_the_picture_s_place():
    """Diagnosis and question keep the last picture's space, so that a press hits its button."""
    demo = demos.WarpExplorer()
    [space] = re.findall(r'viewBox="[^"]*"', demo._image.value)
    demo.editor.value = "1 / 0"
    assert re.findall(r'viewBox="[^"]*"', demo._image.value) == [space]
    demo.reset.click()
    demo.predict.value = True
    assert demo.question in demo._image.value
    assert re.findall(r'viewBox="[^"]*"', demo._image.value) == [space]


@pytest.fixture
def counted_time(monkeypatch):
    """A clock that goes on by ten microseconds a look, and a patience of 20,000 looks.

    So a text is stopped after as many of its own steps on any machine, however busy.
    """
    looks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(looks) * 1e-5)
    monkeypatch.setattr(source, "time", clock)
    monkeypatch.setattr(source, "PATIENCE", 0.2)


@pytest.mark.usefixtures("counted_time")
def test_a_loop_without_end_is_stopped():
    """A presenter's endless loop holds the page for no longer than the demo's patience."""
    demo = demos.WarpExplorer()
    demo.editor.value = "@cuda.jit\ndef k(o, a, s, t):\n    while True:\n        s += 1"
    assert "still runs after 0.2 s" in str(demo.shown)


def test_patience_begins_with_the_first_step(monkeypatch):
    """What the front end takes, seconds where a machine is cold, is not the kernel's time."""
    now = [0.0]
    monkeypatch.setattr(source, "time", SimpleNamespace(monotonic=lambda: now[0]))
    patience = source._Patience()
    now[0] = 10 * source.PATIENCE
    patience.on_segment(None, None)
    now[0] += 1.01 * source.PATIENCE
    with pytest.raises(SimulationLimit, match="still runs after 3 s"):
        patience.on_segment(None, None)


SCHEDULE = "def schedule(gpu, batches, streams):\n    "
FIRST_FIT = "def first_fit():\n    "


@pytest.mark.parametrize(
    ("demo", "text", "line"),
    [
        (demos.WarpExplorer, "while True: pass", 1),
        (demos.WarpExplorer, "x = 0\nwhile x < 1:\n    x -= 1", "[23]"),
        (demos.TileStepper, "for _ in iter(int, 1): 0", 1),
        (demos.BankExplorer, "any(False for _ in iter(int, 1))", 1),
        (
            demos.WarpDebugger,
            "while 1:\n    try:\n        x\n    except Exception: 0",
            "[1-4]",
        ),
        (demos.StreamTimeline, SCHEDULE + "while True: gpu", 2),
        (demos.HeapStepper, FIRST_FIT + "while True: memory", 2),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.usefixtures("counted_time")
def test_an_endless_text_is_stopped(demo, text, line):
    """Python above the kernel, a schedule and an allocator have the same patience as a kernel."""
    shown = demo()
    before = sys.gettrace()
    shown.editor.value = text
    assert re.search(f"line {line}: the text still runs after 0.2 s: look for", str(shown.shown))
    assert sys.gettrace() is before
    shown.reset.click()
    assert "no picture" not in str(shown.shown)


@pytest.mark.parametrize("caught", ["", " BaseException", " (OSError, BaseException)"])
def test_what_would_catch_the_stop_is_refused(caught):
    """An except that catches all is told before the text is run."""
    demo = demos.WarpExplorer()
    demo.editor.value = f"while True:\n    try:\n        pass\n    except{caught}:\n        pass"
    assert "line 4: an except without a class" in str(demo.shown)


def test_exit_in_a_text_ends_nothing():
    """`exit()` is a diagnosis, not the kernel's end."""
    demo = demos.WarpExplorer()
    demo.editor.value = "exit()"
    assert "SystemExit" in str(demo.shown)


def test_two_demos_keep_their_own_lines():
    """A kernel's lines are those of its demo's text, whatever another demo ran since."""
    first, second = demos.WarpExplorer(), demos.WarpExplorer()
    text = first.source.replace("a[i * stride + offset]", "a[i * stride + offset + 99999]")
    second.editor.value = "\n\n" + second.source
    first.editor.value = text
    assert first.file != second.file
    lines = [linecache.getline(each.file, 4).strip() for each in (first, second)]
    assert lines == ["out[i] = a[i * stride + offset + 99999]", "def read(out, a, stride, offset):"]


def test_debugger_of_a_report():
    """A report is walked: values are what NumPy gives for each lane."""

    @cuda.jit
    def square(out, a):
        i = cuda.grid(1)
        value = a[i] * a[i]
        out[i] = value

    a = np.arange(64.0)
    report = simulate(square, 1, 64, np.zeros(64), a)
    demo = demos.WarpDebugger(report)
    demo.controls["warp"].value = 1
    demo.controls["chosen"].value = ("value",)
    demo.controls["step"].value = demo.controls["step"].max
    [(name, values)] = demo.shown.values
    assert name == "value"
    assert values == tuple(a[32:] ** 2)
    assert "32 active lanes" in str(demo.shown)


def test_stream_demo_marks_a_schedule_that_does_not_wait():
    """A download on a stream of its own reads what the kernel has yet to write."""
    demo = demos.StreamTimeline()
    text = demo.source.replace(
        "gpu.download(stream, batch)", "gpu.download((stream + 1) % 3, batch)"
    )
    demo.editor.value = text
    assert "hazard: down 0 on stream 1 reads" in str(demo.shown)
    demo.editor.value = text.replace(
        "        gpu.download", "        gpu.wait((stream + 1) % 3, stream)\n        gpu.download"
    )
    assert " 0 hazards" in str(demo.shown)


def test_heap_demo_takes_an_allocator_typed_live():
    """Allocators defined in the text are those to choose from; a full one says so."""
    demo = demos.HeapStepper()
    demo.editor.value = "def tiny():\n    return memory.Heap('1MiB')"
    assert demo.controls["allocator"].options == ("tiny",)
    assert "event " in str(demo.shown)
    demo.editor.value = "def broken():\n    return 5"
    assert "broken: AttributeError" in str(demo.shown)


def test_topology_demo_refuses_a_machine_in_words():
    """A name that says nothing gets the sentence of virtual_machine."""
    demo = demos.TopologyDemo()
    demo.controls["machine"].value = "3 small ones"
    assert isinstance(demo.shown, Diagnosis)
    demo.controls["machine"].value = "2xH100-nvlink"
    assert "2 devices" in str(demo.shown)


@pytest.mark.parametrize("kind", ["WarpExplorer", "BankExplorer", "TileStepper", "HeapStepper"])
def test_dragging_a_slider_keeps_the_memory(kind):
    """After a hundred changes the process holds no more than after the first hundred."""
    demo = getattr(demos, kind)()
    slider = next(each for each in demo.controls.values() if isinstance(each, widgets.IntSlider))

    def drag():
        for n in range(100):
            slider.value = slider.min + n % max(min(slider.max - slider.min, 30), 1)
        gc.collect()

    drag()
    tracemalloc.start()
    drag()
    before = tracemalloc.get_traced_memory()[0]
    drag()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 200_000
