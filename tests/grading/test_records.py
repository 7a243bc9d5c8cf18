"""What the judge writes down while a host answer runs is out of the answer's reach.

Each attack is the official answer with a few lines more. Those marked FOOLS pass where nobody
guards, at a learner's own desk, where there is nothing to win; here none has an entry that passed.
"""

from __future__ import annotations

import json
import linecache
import textwrap

import pytest

from wia_lab.grading import sandbox
from wia_lab.grading.limits import Limits
from wia_lab.grading.refusal import refuse
from wia_lab.grading.sandbox import Worker
from wia_lab.grading.untouched import Untouched
from wia_lab.grading.verdicts import judge_answer
from wia_lab.puzzles.curriculum import find
from wia_lab.puzzles.judging import judge

FOOLS = True
CHOOSE = "    def choose(self, machine, nbytes, needs):\n"
OPEN = "        return wia.Context(device, config)"
SHARE = "    def share(self, data, ready, stream, reads):\n"
ALLOC = "    def alloc(self, size, stream=None):\n"
FREE = "    def free(self, offset, stream=None):\n"
SIMPLE = "    def simple(self, a, b):\n"
CLASS = "class ThreeLevels:\n"
POOL = "class MemoryPool:\n"
TEXT = "class Text(str):\n    def filled(self, x):\n        return super().format(x)\n\n\n"
NOTED = (
    "    def noted(method):\n        def inside(self, *given):\n"
    "            return method(self, *given)\n\n        return inside\n\n    @noted\n"
)


def first(line: str, *more: str) -> tuple[str, str]:
    """Return a line of an answer, and it followed by more."""
    return line, line + textwrap.indent("\n".join(more) + "\n", " " * 8)


ATTACKS = {
    "a class of the library changed and put back": (
        "device-query",
        FOOLS,
        first(CHOOSE, "wia.Context.owned = 1", "del wia.Context.owned"),
    ),
    "a function of the library changed and put back": (
        "device-query",
        FOOLS,
        first(CHOOSE, "kept = wia.zeros", "wia.zeros = len", "wia.zeros = kept"),
    ),
    "a context left open and struck from the list": (
        "device-query",
        False,
        first(
            CHOOSE,
            "if not machine[0].contexts:",
            "    opened = wia.Context(machine[0])",
            "    machine[0].contexts.remove(opened)",
        ),
    ),
    "all memory taken past every context": (
        "device-query",
        False,
        first(
            CHOOSE,
            "for device in machine:",
            "    device.memory.allocate(device.memory.statistics.largest_free_bytes)",
        ),
    ),
    "a context that lies of itself": (
        "device-query",
        False,
        (
            "class DeviceQuery:\n",
            "class Lying(wia.Context):\n    is_closed = False\n\n\nclass DeviceQuery:\n",
        ),
        (OPEN, "        return Lying(device, config)"),
    ),
    "the data written from its formula": (
        "peer-to-peer",
        False,
        first(
            SHARE,
            "import numpy as np",
            "self.calls = getattr(self, 'calls', 0) + 1",
            "values = np.arange(data.nbytes // 4, dtype=np.int32) * 3 + 1000 * self.calls",
            "made = stream.context.allocate(data.nbytes)",
            "def write(target):",
            "    target.view(np.int32)[:] = values",
            "stream.submit(write, made, seconds=0.0)",
            "return made",
        ),
    ),
    "access taken without asking": (
        "peer-to-peer",
        False,
        first(SHARE, "stream.context.peers.update(range(8))", "return data"),
    ),
    "what crossed the links struck out": (
        "peer-to-peer",
        FOOLS,
        first(SHARE, "getattr(stream, '_' + 'backend').crossings.clear()"),
    ),
    "the machine's back end through the timeline": (
        "peer-to-peer",
        FOOLS,
        first(SHARE, "ready.handle.operation"),
    ),
    "the heap's book struck out": (
        "memory-pool",
        FOOLS,
        first(ALLOC, "self.heap.log.extend(())"),
    ),
    "a stream said to be done": (
        "memory-pool",
        False,
        first(FREE, "if stream is not None:", "    stream.record()", "    stream.finish()"),
    ),
    "an event said to be done": (
        "memory-pool",
        False,
        first(FREE, "if stream is not None:", "    stream.record().is_done = True"),
    ),
    "the heap's inside": (
        "memory-pool",
        FOOLS,
        first(ALLOC, "self.heap._heap.check()"),
    ),
    "the heap's inside by a text": (
        "memory-pool",
        FOOLS,
        first(ALLOC, "'{0._heap}'.format(self.heap)"),
    ),
    "the heap's inside by a text of its own": (
        "memory-pool",
        FOOLS,
        (POOL, TEXT + POOL),
        first(ALLOC, "Text('{0._heap}').format(self.heap)"),
    ),
    "the heap's inside by a text's class": (
        "memory-pool",
        FOOLS,
        (POOL, TEXT + POOL),
        first(ALLOC, "Text('{0._heap}').filled(self.heap)", "str.format('{0._heap}', self.heap)"),
    ),
    "the turns of threads": (
        "memory-pool",
        FOOLS,
        first(ALLOC, "self.lock._turns.stuck = 0"),
    ),
    "a tensor that lies of its values": (
        "three-levels",
        False,
        (CLASS, "class Lying(wia.Tensor):\n    pass\n\n\n" + CLASS),
        ("        return c\n", "        return Lying\n"),
    ),
    "a kernel run as Python": (
        "three-levels",
        FOOLS,
        first(SIMPLE, "own_matmul.py_func"),
    ),
    "a kernel that another decorator gets": (
        "three-levels",
        FOOLS,
        (
            "@cuda.jit\n",
            "from functools import cache as jit\n\n\n@jit\ndef evil(x):\n    x.zeros = len\n\n\n"
            "@cuda.jit\n",
        ),
        first(SIMPLE, "evil"),
    ),
    "native code": (
        "three-levels",
        FOOLS,
        first(SIMPLE, "from numba import njit", "njit(lambda x: x[9])"),
    ),
    "native code by another way": (
        "three-levels",
        FOOLS,
        first(SIMPLE, "import numba", "numba.njit"),
    ),
}


def source_of(made, name):
    """Return the source of an attack: the official answer, changed."""
    puzzle, _, *changes = ATTACKS[name]
    source = made.solution(puzzle)
    for old, new in changes:
        assert old in source
        source = source.replace(old, new, 1)
    return source


@pytest.fixture(scope="module")
def worker():
    with Worker(sandbox.mode()) as made:
        yield made


@pytest.mark.parametrize("name", ATTACKS)
def test_earns_nothing(made, worker, name):
    """No entry passes, and the student is told what was refused."""
    record = find(ATTACKS[name][0])
    found = judge_answer(record, source_of(made, name), 5, Limits(seconds=60), worker)
    assert not any(entry.passed for entry in found.verdict.entries)
    assert found.verdict.diagnosis is not None


@pytest.mark.parametrize("name", [name for name, each in ATTACKS.items() if each[1]])
def test_fools_whoever_does_not_guard(made, name):
    """The attacks are real: unguarded, they get all points."""
    record = find(ATTACKS[name][0])
    source = source_of(made, name)
    cells = made.notebook(record.id, "solutions")["cells"]
    setup = next("".join(each["source"]) for each in cells if each["id"] == "setup")
    namespace = {}
    for number, text in enumerate((setup, source)):
        file = f"<{name} {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), namespace)
    verdict = judge(record, namespace[record.function], seed=5, on_hardware=False)
    assert verdict.passed, verdict.diagnosis


class TestHonest:
    """What looks like an attack and is none."""

    @pytest.mark.parametrize(
        ("puzzle", "change"),
        [
            ("device-query", first(CHOOSE, "assert isinstance(type(self), type)")),
            ("device-query", first(CHOOSE, "assert not hasattr(machine, 'nothing')")),
            ("memory-pool", first(ALLOC, "self._size = size", "self.log = self._size")),
            ("memory-pool", first(ALLOC, "assert '{0:>2}{x[0]}'.format(7, x=[8]) == ' 78'")),
            ("memory-pool", first(ALLOC, "assert '{a.real}'.format_map({'a': 1}) == '1'")),
            ("memory-pool", (POOL, "GUARD = threading.RLock()\n\n\n" + POOL)),
            ("memory-pool", (ALLOC, NOTED + ALLOC)),
            ("peer-to-peer", first(SHARE, "assert len(stream.context.peers) < 9")),
            (
                "three-levels",
                (
                    CLASS,
                    "@cuda.jit(device=True)\ndef _times(x, y):\n    return x * y\n\n\n"
                    "class Full(wia.OutOfMemory):\n    pass\n\n\n" + CLASS,
                ),
            ),
        ],
    )
    def test_is_welcome(self, made, worker, puzzle, change):
        """Full marks, as without it."""
        source = made.solution(puzzle).replace(*change, 1)
        found = judge_answer(find(puzzle), source, 5, Limits(seconds=60), worker)
        assert found.verdict.passed, found.verdict.diagnosis


class TestText:
    """Names and patterns that lead past the guards are refused before anything runs."""

    @pytest.mark.parametrize(
        "line",
        [
            "def __array_interface__(self): pass",
            "def __getattr__(self, name): pass",
            "import heapq as __builtins__",
            "def f(self, __load__): pass",
            "def f(self):\n        global __builtins__",
            "def f(self):\n        try: pass\n        except OSError as __own__: pass",
            "def f(self, x):\n        match x:\n            case [*__load__]: pass",
            "def f(self, x):\n        match x:\n            case {**__load__}: pass",
            "def f(self, x):\n        match x:\n            case str() as __load__: pass",
            "def f(self, x):\n        match x:\n            case Reader(a): pass",
            "def f(self, x):\n        match x:\n            case Reader(contexts=a): pass",
            "from enum import Enum",
            "from abc import ABCMeta",
            "from typing import get_type_hints",
            "from numba import njit",
            "from numpy import lib",
        ],
    )
    def test_is_refused(self, line):
        """By the line that holds it."""
        found = refuse(f"class Reader:\n    {line}\n", host=True)
        assert found is not None
        assert found.kind == "refused"

    @pytest.mark.parametrize(
        "head",
        [
            "S = 'void()'\n@cuda.jit(S)",
            "@cuda.jit('vo' + 'id()')",
            "@cuda.jit(np.__doc__)",
            "@cuda.jit(func_or_sig=math.__doc__)",
            "from numba import njit\n@njit([np.__name__])",
            "float32 = 'void()'\n@cuda.jit(float32)",
        ],
    )
    @pytest.mark.parametrize("host", [True, False])
    def test_a_signature_is_written_where_it_is_given(self, head, host):
        """One put together elsewhere could be any text, and Numba would run it."""
        kernel = f"from wia_lab import cuda\nimport math\n{head}\ndef square(out, a):\n    pass\n"
        assert refuse(kernel, host=host) is not None

    @pytest.mark.parametrize(
        "head",
        [
            "@cuda.jit('void(float32[:], float32[:])')",
            "@cuda.jit([(float32[:], float32[::1])])",
            "@cuda.jit(void(float32[:], float32[:]))",
            "N = 32\n@cuda.jit(max_registers=N)",
            "@cuda.jit(device=True)",
        ],
    )
    def test_signatures_are_welcome(self, head):
        """Types and texts that stand in the decorator."""
        text = f"from wia_lab import cuda\nfrom numba import float32, void\n{head}\n"
        assert refuse(f"{text}def square(out, a):\n    out[0] = a[0]\n", host=False) is None


def test_a_text_that_is_no_signature_is_not_evaluated(made, worker):
    """Whoever gets one to the library gets a TypeError."""
    line = "cuda.jit(\"__import__('sys').settrace(None)\")(lambda: 0)"
    source = made.solution("buddy-allocator").replace(
        "        self.live = {}", f"        from wia_lab import cuda\n        {line}\n", 1
    )
    found = judge_answer(find("buddy-allocator"), source, 5, Limits(), worker)
    assert "is not a signature" in found.verdict.diagnosis.text


def test_counting_that_was_stopped_is_no_pass(made, worker):
    """At the limit of recursion Python stops calling whoever counts lines: then none are free."""
    old, new = first(
        "    def alloc(self, size):\n",
        "def deep():",
        "    try:",
        "        deep()",
        "    except RecursionError:",
        "        pass",
        "deep()",
    )
    source = made.solution("buddy-allocator").replace(old, new, 1)
    found = judge_answer(find("buddy-allocator"), source, 5, Limits(), worker)
    assert not any(entry.passed for entry in found.verdict.entries)


def test_what_is_changed_at_the_end_is_named(monkeypatch):
    """Behind the guards stands a look at all functions that answer and judge share."""
    shared = Untouched()
    assert shared.changed() is None
    monkeypatch.setattr(Worker, "close", len)
    assert shared.changed() == "Worker.close"


def test_nothing_of_the_library_that_can_be_changed_is_shown(worker):
    """Walks all that an answer may import, to four attributes deep, as an answer would read it."""
    found = json.loads(walk(worker))
    assert found["seen"] > 200
    assert found["open"] == []


def walk(worker):
    """Return what an answer's guard shows of the modules that it may import."""
    code = """
        import importlib, json
        from types import ModuleType
        from wia_lab.grading import allowed, guards
        seen, open_ones = set(), []

        def visit(value, path, depth):
            if id(value) in seen or depth > 4:
                return
            seen.add(id(value))
            for name in dir(value):
                try:
                    found = guards.load(value, name)
                except Exception:
                    continue
                if isinstance(found, (list, dict, set)):
                    open_ones.append(f"{path}.{name}")
                if isinstance(found, (ModuleType, type)):
                    visit(found, f"{path}.{name}", depth + 1)

        for name in ("wia_lab.hal", "wia_lab.cuda", "wia_lab.errors", "numba", "numpy"):
            visit(importlib.import_module(name), name, 0)
        text = json.dumps({"seen": len(seen), "open": open_ones[:9]})
        raise type(text, (Exception,), {})
    """
    request = {
        "kind": "kernel",
        "source": "",
        "function": "square",
        "setup": textwrap.dedent(code),
        "facts": {"signature": []},
        "cases": ["t"],
        "limits": Limits().plain(),
    }
    reply = worker.ask(request, 20.0, 1 << 20)
    return reply["why"].removeprefix("it raised ")
