"""What the judge's listeners record of a launch, and the pictures' text twins."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numba import float32

from wia_lab import cuda
from wia_lab.puzzles import find
from wia_lab.puzzles.execute import execute
from wia_lab.puzzles.pictures import read_map, story
from wia_lab.puzzles.puzzle import Case

SIZE = 16


@cuda.jit
def backwards(out, a):
    """Two stores a cell: block 1 writes last to out[0] … out[31]."""
    i = cuda.grid(1)
    out[i] = a[i]
    if cuda.blockIdx.x == 1:
        out[i - 32] = a[i]


@cuda.jit
def writes_its_input(out, a):
    """Leaves a trace in an input."""
    i = cuda.grid(1)
    out[i] = a[i]
    if i == 5:
        a[i] = np.nan


@cuda.jit
def fetches(out, a):
    """Copy 64 elements, and load a[0] before, a[1] during and a[2] after the flight."""
    tile = cuda.shared.array(SIZE, float32)
    i = cuda.grid(1)
    before = out[0]
    cuda.copy_dram_to_sram_async(tile, a, 0, SIZE)
    during = out[1] + out[2]
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    if i < out.size:
        out[i] = before + during + tile[i % SIZE]


@cuda.jit
def idle(out, a):
    """Touch nothing."""
    i = cuda.grid(1)
    if i < 0:
        out[i] = a[i]


def launch(kernel, grid=(2,), block=(32,), size=64):
    """Run a kernel on `size` elements as the judge does."""
    case = Case(
        name="made up",
        arguments={
            "out": np.full(size, np.nan, np.float32),
            "a": np.arange(size, dtype=np.float32),
        },
        outputs=("out",),
        grid=grid,
        block=block,
    )
    return execute(kernel.py_func, case)


class TestWriters:
    """Who wrote each cell last."""

    def test_last_writer_wins(self):
        """The thread and the line of the last store are kept, in the launch's own order."""
        run = launch(backwards)
        writers = run.writers["out"]
        assert writers.thread.tolist() == [*range(32, 64), *range(32, 64)]
        first = backwards.py_func.__code__.co_firstlineno
        assert set(writers.line[:32]) == {first + 6}
        assert set(writers.line[32:]) == {first + 4}

    def test_a_run_is_plain_data(self):
        """A run can be judged in another process than the one that made it."""
        run = launch(backwards)
        again = pickle.loads(pickle.dumps(run))
        assert (again.outputs["out"] == run.outputs["out"]).all()
        assert again.counters == run.counters
        assert again.hazards == run.hazards

    def test_nobody(self):
        """Cells that nobody wrote are told apart."""
        assert (launch(idle).writers["out"].thread == -1).all()

    def test_changed_input_is_named_and_the_case_is_not(self):
        """An input that was written to is found, even by a NaN; the case keeps its own copy."""
        run = launch(writes_its_input)
        assert run.changed == ("a",)
        assert not np.isnan(run.case.arguments["a"]).any()


class TestFlight:
    """Fetches while another array's copy is in flight."""

    def test_before_during_after(self):
        """Only what is loaded between issue and wait counts as overlapped, once a warp."""
        flight = launch(fetches).flight
        assert flight.elements == {"out": 0, "a": 2 * SIZE}
        assert flight.overlapped["out"] == 2 * 2
        assert flight.alone["out"] == 2

    def test_solution_hides_its_taps(self):
        """One fetch of the taps a block, all of them while the tile is on its way."""
        puzzle = find("async-convolution")
        from wia_lab.puzzles.mutants import ROOT, load_answer

        folder = ROOT / "tests" / "mutants" / puzzle.id
        [case, *_] = puzzle.cases(np.random.default_rng(0))
        for name, overlapped, alone in (
            ("pass_explicit_groups", 4, 0),
            ("pass_taps_copied_too", 4, 0),
            ("pass_taps_in_registers", 5 * 32, 0),
            ("wait_before_taps", 0, 4),
            ("taps_before_copy", 0, 4),
            ("taps_from_global_memory", 0, 5 * 32),
        ):
            answer = load_answer(folder / f"{name}.py", puzzle.function)
            flight = execute(answer.py_func, case).flight
            assert (flight.overlapped["taps"], flight.alone["taps"]) == (overlapped, alone), name


@cuda.jit
def rows(out, a):
    """Each thread sums a row of `a`."""
    i = cuda.grid(1)
    if i < out.size:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[i, k]
        out[i] = total + a[0, 0]


class TestReadMap:
    """How often each element is read."""

    A = np.arange(40 * 3, dtype=np.float32).reshape(40, 3)

    def test_of_the_grid(self):
        """All reads of all threads are counted; arrays that are written are left out."""
        out = np.zeros(40, np.float32)
        picture = read_map(rows, 2, 32, out, self.A)
        want = np.ones((40, 3), int)
        want[0, 0] += 40
        assert list(picture.counts) == ["a"]
        assert (picture.counts["a"] == want).all()
        assert str(picture) == "the grid reads\na: 120 of 120 elements, 1 to 41 times"
        assert not out.any()

    def test_of_one_block(self):
        """One block's reads only: rows 32 to 39, and a[0, 0] eight times."""
        picture = read_map(rows, 2, 32, np.zeros(40, np.float32), self.A, of_block=1)
        assert str(picture) == "block 1 reads\na: 25 of 120 elements, 1 to 8 times"

    def test_nothing(self):
        """A kernel that reads nothing, as a stub, gives a picture of nothing."""
        picture = read_map(idle, 1, 32, np.zeros(32, np.float32), np.zeros(32, np.float32))
        assert str(picture).endswith("a: none of 32 elements")

    def test_image_and_text_carry_the_same(self):
        """A notebook gets both; the colour scale ends at the count that is asked for."""
        picture = read_map(rows, 2, 32, np.zeros(40, np.float32), self.A, scale=50)
        bundle = picture._repr_mimebundle_()
        assert bundle["text/plain"] == str(picture)
        assert bundle["image/png"].startswith(b"\x89PNG")
        image = picture.figure().axes[0].images[0]
        assert image.get_clim() == (0, 50)
        assert image.get_array().max() == 41


class TestStory:
    """One block's steps in order."""

    def test_text(self):
        """Each step has its line, and what is in flight after it."""
        a = np.arange(64, dtype=np.float32)
        told = str(story(fetches, 2, 32, np.zeros(64, np.float32), a, of_block=1))
        first = fetches.py_func.__code__.co_firstlineno
        assert told.splitlines() == [
            "block 1, in order:",
            f"line {first + 5:>2}  load    32 elements of out are loaded           in flight: 0",
            f"line {first + 6:>2}  copy    16 elements of a are asked for          in flight: 16",
            f"line {first + 7:>2}  load    64 elements of out are loaded           in flight: 16",
            f"line {first + 8:>2}  wait    16 elements have landed                 in flight: 0",
            f"line {first + 9:>2}  barrier 32 threads meet                         in flight: 0",
            f"line {first + 11:>2}  compute 32 reads of shared memory               in flight: 0",
            f"line {first + 11:>2}  store   32 elements of out are stored           in flight: 0",
        ]

    def test_figure_has_a_bar_a_step(self):
        """The bars are the elements in flight."""
        told = story(fetches, 2, 32, np.zeros(64, np.float32), np.zeros(64, np.float32))
        heights = [bar.get_height() for bar in told.figure().axes[0].patches]
        assert heights == [step.in_flight for step in told.steps]

    def test_nothing(self):
        """A kernel that touches nothing has no steps."""
        told = story(idle, 1, 32, np.zeros(32, np.float32), np.zeros(32, np.float32))
        assert str(told) == "block 0 touched no memory"


def test_pictures_leave_the_arrays_alone():
    """What is drawn is a copy's launch."""
    out = np.zeros(64, np.float32)
    read_map(backwards, 2, 32, out, np.ones(64, np.float32))
    assert not out.any()


@pytest.mark.parametrize("name", ["add", "square"])
def test_names_come_from_the_parameters(name):
    """The picture uses the learner's own names."""
    namespace = {"cuda": cuda}
    exec(f"@cuda.jit\ndef {name}(result, source):\n    result[0] = source[0]\n", namespace)
    picture = read_map(namespace[name], 1, 1, np.zeros(1), np.zeros(1))
    assert list(picture.counts) == ["source"]
