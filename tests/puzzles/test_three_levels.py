"""Puzzle 03: what must have been done follows from the device, and how exact it can be from k."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from wia_lab import cuda
from wia_lab import hal as wia
from wia_lab.grading import plain
from wia_lab.hal import LaunchConfig
from wia_lab.puzzles import find, judge
from wia_lab.puzzles.host_puzzle import HostCase, HostRun
from wia_lab.puzzles.mutants import ROOT, notebook_answer
from wia_lab.puzzles.three_levels_expected import bound, compared, inputs, way
from wia_lab.puzzles.three_levels_playing import UNTOUCHED, RecordingBackend, play, tensor

PUZZLE = find("three-levels")


@pytest.fixture(scope="module")
def solution():
    """The official answer."""
    return notebook_answer(ROOT / "solutions" / f"{PUZZLE.stem}.ipynb", PUZZLE.function)


def one(answer, machine, step, **options):
    """The facts of a script of one step."""
    case = HostCase("", (step,), {"machine": machine, "seed": 3, **options})
    return play(answer, case).facts["steps"][0]


class TestWay:
    """What the machine recorded is held against what the library does."""

    @pytest.mark.parametrize(
        ("machine", "algorithm"),
        [
            ("1xT4", "double-buffered"),  # 7.5
            ("1xV100", "double-buffered"),  # 7.0
            ("1xA100", "pipeline"),  # 8.0
            ("1xL4", "pipeline"),  # 8.9
            ("1xH100", "pipeline"),  # 9.0
        ],
    )
    def test_level_2(self, solution, machine, algorithm):
        """By compute capability; products of float16, sums in float32."""
        step = ("configured", (5, 7, 3), "plain")
        facts = one(solution, machine, step)
        record = {"name": "matmul", "algorithm": algorithm, "products": "float16"}
        assert way(machine, 0, *step) == {**record, "sums": "float32"}
        assert facts["operations"] == [way(machine, 0, *step)]

    def test_level_1_is_what_the_library_takes(self, solution):
        """The tiled way at 40 × 40 × 40 on an H100, in float32."""
        facts = one(solution, "1xH100", ("simple", (40, 40, 40), "plain"))
        record = {"name": "matmul", "algorithm": "tiled", "products": "float32"}
        assert facts["operations"] == [{**record, "sums": "float32"}]

    def test_level_3(self, solution):
        """37 × 50 elements by blocks of 16 × 16: 4 blocks across and 3 down; nothing crosses."""
        facts = one(solution, "1xH100", ("own", (37, 29, 50), "spread"))
        [launch] = facts["launches"]
        assert (launch["name"], launch["threads"]) == ("own_matmul", [64, 48, 1])
        assert facts["operations"] == []
        assert facts["host_bytes"] == 0


class TestRecords:
    """The back end counts what goes between host and device, and nothing twice."""

    @pytest.fixture
    def backend(self):
        """One that records."""
        made = RecordingBackend("1xH100", "")
        made.is_recording = True
        return made

    @pytest.fixture
    def context(self, backend):
        """On its device."""
        return wia.Context(wia.Machine(backend)[0])

    def test_bytes(self, backend, context):
        """Down 3 · 4 float32 and up 3 · 4 float32: 48 and 48 bytes; within the device none."""
        a = wia.from_numpy(context, np.ones((3, 4), np.float32))
        assert backend.host_bytes == 48
        wia.contiguous(a)
        assert backend.host_bytes == 48
        a.numpy()
        assert backend.host_bytes == 96

    def test_unified_memory_that_the_host_touches(self, backend, context):
        """A view of memory that migrates is a way to the host, too."""
        a = wia.empty(context, (3, 4), memory=wia.MemoryKind.UNIFIED)
        a.host("read")
        assert backend.host_bytes == 48

    def test_an_operation_is_no_python_function(self, backend, context):
        """An operation is noted once; a submitted function is noted as such."""
        a = wia.zeros(context, (3, 3))
        wia.matmul(a, a)
        assert [each["name"] for each in backend.operations] == ["fill", "matmul"]
        assert backend.calls == []
        wia.default_stream(context).submit(print, seconds=0, name="mine")
        assert backend.calls == ["mine"]

    def test_hazards_are_kept(self, backend, context):
        """A stray write is told, with its line, and nothing is raised."""

        @cuda.jit
        def stray(a):
            a[a.size] = 1.0

        a = wia.zeros(context, 4)
        wia.launch_kernel(wia.compile_kernel(stray), LaunchConfig(1, 1), a)
        [hazard] = backend.hazards
        line = stray.py_func.__code__.co_firstlineno + 2
        assert (hazard["kind"], hazard["line"]) == ("out-of-bounds", line)

    def test_new_memory(self, context):
        """It holds a number that no product of the scripts has."""
        assert (wia.empty(context, 5).numpy() == UNTOUCHED).all()


class TestExactness:
    """The bound is Higham's; nothing right is beyond it, and little wrong within it."""

    def test_bound_of_three_terms(self):
        """3u / (1 − 3u) times 1·4 + 2·5 + 3·6 = 32, with u = 2⁻²⁴; signs do not count."""
        a, b = np.array([[1.0, -2.0, 3.0]]), np.array([[4.0], [5.0], [-6.0]])
        u = Fraction(1, 2**24)
        assert bound(a, b)[0, 0] == pytest.approx(float(3 * u / (1 - 3 * u) * 32), rel=1e-15)

    def test_the_worst_order_is_within(self):
        """Sums from left to right in float32, of numbers that cancel, stay within it."""
        random = np.random.default_rng(5)
        a = (random.standard_normal((9, 400)) * 10.0 ** random.integers(-4, 4, 400)).astype("f4")
        b = random.standard_normal((400, 7)).astype(np.float32)
        total = np.zeros((9, 7), np.float32)
        for k in range(400):
            total += a[:, k, None] * b[None, k]
        assert compared("own", a, b, total) == {}

    def test_float16_is_told_from_float32(self):
        """A product of rounded numbers is wrong at level 3, and one of exact ones at level 2."""
        random = np.random.default_rng(6)
        a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((8, 9), (9, 4)))
        rounded = (a.astype("f2").astype("f8") @ b.astype("f2").astype("f8")).astype(np.float32)
        exact = (a.astype("f8") @ b.astype("f8")).astype(np.float32)
        assert compared("configured", a, b, rounded) == compared("own", a, b, exact) == {}
        assert "wrong" in compared("own", a, b, rounded)
        assert "wrong" in compared("configured", a, b, exact)

    def test_what_was_never_written(self):
        """The first cell, how many, and how many rows and columns were reached."""
        a, b = np.ones((4, 2), np.float32), np.ones((2, 5), np.float32)
        got = np.full((4, 5), UNTOUCHED)
        got[:3, :2] = 2
        assert compared("own", a, b, got) == {"untouched": [0, 2, 14], "written": [3, 2]}

    def test_not_a_number_is_wrong(self):
        """NaN is in no interval."""
        a, b = np.ones((1, 2), np.float32), np.ones((2, 1), np.float32)
        assert compared("own", a, b, np.full((1, 1), np.nan, np.float32))["count"] == 1


@pytest.mark.parametrize("layout", ["plain", "turned", "spread", "inside", "unified"])
def test_tensors_have_their_values(layout):
    """A tensor reads back as the array beside it, and views are views."""
    context = wia.Context(wia.open_machine("1xH100")[0])
    made, values = tensor(context, np.random.default_rng(1), (5, 3), layout)
    np.testing.assert_array_equal(made.numpy(), values)
    assert made.is_contiguous == (layout in {"plain", "unified"})
    assert len(np.unique(values)) == 15


def test_every_seed(solution):
    """No input drawn turns a right answer wrong."""
    for seed in range(12):
        verdict = judge(PUZZLE, solution, seed=seed)
        assert verdict.passed, (seed, verdict.diagnosis.text)


def test_facts_are_plain_data(solution):
    """Another process can judge them."""
    for case in PUZZLE.cases(np.random.default_rng(2)):
        assert '["o",' not in plain.dumps(play(solution, case).facts)  # nothing opaque


def test_the_judge_has_the_inputs_that_were_given(solution):
    """It draws them anew from the script, views included."""
    given = []

    class Noting(solution):
        def own(self, a, b):
            given.append((a.numpy(), b.numpy()))
            return super().own(a, b)

    steps = tuple(("own", (5, 3, 4), layout) for layout in ("plain", "turned", "spread", "inside"))
    case = HostCase("", steps, {"machine": "1xH100", "seed": 8})
    play(Noting, case)
    for (a, b), (left, right) in zip(given, inputs(case), strict=True):
        np.testing.assert_array_equal(a, left)
        np.testing.assert_array_equal(b, right)


def test_what_came_back_must_be_the_result(solution):
    """Facts that call another array the result, or none, are no verdict."""
    case = HostCase("", (("own", (5, 3, 4), "plain"),), {"machine": "1xH100", "seed": 8})
    run = play(solution, case)
    assert PUZZLE.diagnose(run) is None
    [facts] = run.facts["steps"]
    for values in (facts["values"][:0], facts["values"].astype(np.float64), None, [[1.0]]):
        forged = HostRun(case, run.replies, {"steps": [{**facts, "values": values}]})
        with pytest.raises(TypeError, match="no float32 array of 5 × 4"):
            PUZZLE.diagnose(forged)
