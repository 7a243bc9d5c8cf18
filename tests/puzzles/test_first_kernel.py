"""Puzzle 01: its figures by hand, and the picture of who wrote what."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import cuda, simulate
from wia_lab.puzzles import PUZZLES, first_kernel
from wia_lab.puzzles.mutants import ROOT, load_answer
from wia_lab.puzzles.pictures_access import write_map

PUZZLE = PUZZLES["first-kernel"]


def answer(name):
    """One of the wrong answers."""
    path = ROOT / "tests" / "mutants" / PUZZLE.id / f"{name}.py"
    return load_answer(path, PUZZLE.function)


def vectors(size):
    """out, a and b of a size."""
    random = np.random.default_rng(1)
    return np.zeros(size, np.float32), *random.random((2, size), dtype=np.float32)


class TestFigures:
    """What the gates count."""

    def test_by_hand(self):
        """1,024 elements are 32 warps: each loads from a and b and stores once."""
        [case] = [case for case in PUZZLE.cases(np.random.default_rng(28)) if case.measured]
        assert first_kernel.ideal_loads(case) == 64
        assert first_kernel.ideal_stores(case) == 32
        assert [gate.naive(case) for gate in PUZZLE.gates] == [2_048, 1_024]

    @pytest.mark.parametrize(
        ("name", "loads", "stores"),
        [
            ("pass_by_hand", 64, 32),
            ("pass_grid_stride", 64, 32),
            ("one_thread_adds_all", 2 * 1_024, 1_024),
            ("every_thread_adds_all", 2 * 1_024 * 32, 1_024 * 32),  # each of 32 warps does all
            ("stores_twice", 64, 64),
        ],
    )
    def test_of_kernels(self, name, loads, stores):
        """The simulator counts what was worked out."""
        counters = simulate(answer(name), 4, 256, *vectors(1_024)).counters
        assert counters.global_load_requests == loads
        assert counters.global_store_requests == stores


class TestWriteMap:
    """The picture of who wrote each element."""

    def test_ragged_end(self):
        """The last block's idle threads are told, and the arrays stay as they were."""
        out, a, b = vectors(800)
        told = str(write_map(answer("pass_by_hand"), 4, 256, out, a, b)).splitlines()
        assert told[0] == "block 0: threads 0 to 255 wrote out[0] to out[255]"
        assert (
            told[3]
            == "block 3: threads 0 to 31 wrote out[768] to out[799], 224 threads left nothing"
        )
        assert told[4] == "0 of 800 elements written by nobody"
        assert not out.any()

    def test_last_writer_counts(self):
        """Where all blocks write the same elements, the last one's are left."""
        picture = write_map(answer("thread_only"), 4, 256, *vectors(800))
        assert [picture.runs(block) for block in range(4)] == [[], [], [], [(0, 0, 256)]]
        assert str(picture).endswith("544 of 800 elements written by nobody")

    def test_stray_accesses_are_left_out(self):
        """Threads beyond the end are shown as those that left nothing."""
        picture = write_map(answer("no_guard"), 4, 256, *vectors(800))
        assert picture.runs(3) == [(0, 768, 32)]

    def test_scattered_and_many(self):
        """Runs beyond the fourth and blocks beyond the twelfth are counted."""

        @cuda.jit
        def every_second(out):
            i = cuda.grid(1)
            out[2 * i] = i

        picture = write_map(every_second, 14, 32, np.zeros(2 * 14 * 32))
        told = str(picture).splitlines()
        assert told[1] == (
            "block 1: thread 0 wrote out[64], thread 1 wrote out[66], thread 2 wrote out[68], "
            "thread 3 wrote out[70], 28 more such"
        )
        assert told[12] == "and 2 more blocks"
        assert told[13] == "448 of 896 elements written by nobody"
        assert len(picture.figure().axes[0].get_yticks()) == 12

    def test_nothing_written(self):
        """A kernel that stores nothing is a picture, too."""

        @cuda.jit
        def idle(out):
            if cuda.grid(1) < 0:
                out[0] = 1

        picture = write_map(idle, 1, 32, np.zeros(5))
        assert str(picture) == "block 0: 32 threads left nothing\n5 of 5 elements written by nobody"
        assert picture._repr_mimebundle_()["image/png"][:4] == b"\x89PNG"
