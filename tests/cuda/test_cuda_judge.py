"""The hardware judge's process: what it is sent, what comes back, and that it can be killed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest

from wia_lab import cuda
from wia_lab.cuda import judge
from wia_lab.cuda.errors import BackendError, JudgeError

OFFSET = 3.0


class Pair(NamedTuple):
    """An array and a number."""

    a: np.ndarray
    b: int


@cuda.jit(device=True)
def shifted(x):
    """Shift by a global constant."""
    return x + OFFSET


@cuda.jit
def shift(out, a, factor):
    """Shift and scale."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = shifted(a[i]) * factor


class TestTransport:
    """A kernel travels by value, its arguments come back as the child left them."""

    def test_round_trip(self, tmp_path, monkeypatch):
        """The child's side, run here on the simulator."""
        args = (np.zeros(4), (np.arange(4.0), 5), Pair(np.ones(1), 2))

        @cuda.jit
        def mixed(out, first, second):
            out[cuda.threadIdx.x] = shifted(first[0][cuda.threadIdx.x]) + second.b + first[1]

        def launch(kernel, grid, block, args, shared_bytes):
            assert kernel is not mixed
            kernel[grid, block, 0, shared_bytes](*args)
            return 0.25

        (tmp_path / "task.pkl").write_bytes(judge._packed((mixed, 1, 4, args, 0), mixed))
        monkeypatch.setattr(judge, "_launch", launch)
        judge._child(tmp_path)
        ended = subprocess.CompletedProcess([], 0, "", "")
        answer = judge._answer(tmp_path, args, ended)
        assert answer.problem is None
        assert answer.seconds == 0.25
        assert answer.arguments[0].tolist() == [10, 11, 12, 13]
        assert answer.arguments[1][1] == 5
        assert type(answer.arguments[2]) is Pair
        assert args[0].tolist() == [0, 0, 0, 0]

    def test_child_process_answers(self, monkeypatch):
        """Without a GPU the child says so in one sentence; nothing hangs, nothing is raised."""
        monkeypatch.setattr(judge, "_require_hardware", lambda: None)
        run = judge.run_on_hardware(shift, 1, 4, (np.zeros(4), np.arange(4.0), 2.0))
        assert run.arguments is None
        assert run.problem.startswith("on the GPU the kernel failed with ")
        assert "\n" not in run.problem

    def test_cannot_be_sent(self):
        lock = threading.Lock()

        @cuda.jit
        def held(out):
            out[0] = lock

        with pytest.raises(JudgeError, match="held cannot be sent to the hardware judge"):
            judge._packed((held, 1, 1, (np.zeros(1),), 0), held)

    def test_no_hardware(self):
        with pytest.raises(BackendError, match="no hardware judge here"):
            judge.run_on_hardware(shift, 1, 4, ())


class TestKilled:
    """A child that does not end is ended."""

    def test_timeout(self):
        begin = time.monotonic()
        said = judge._ended([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.5)
        assert said == (
            "on the GPU the kernel had not ended after 0.5 s and was stopped: look for a loop or a "
            "barrier that some thread never leaves"
        )
        assert time.monotonic() - begin < 30

    def test_no_answer(self, tmp_path):
        ended = judge._ended([sys.executable, "-c", "raise SystemExit('lost')"], timeout=30)
        with pytest.raises(JudgeError, match=r"ended with status 1 and no answer \(lost\)"):
            judge._answer(tmp_path, (), ended)

    def test_unreadable_answer(self, tmp_path):
        (tmp_path / "answer.json").write_text("{")
        ended = subprocess.CompletedProcess([], 0, "", "")
        with pytest.raises(JudgeError, match="it said nothing"):
            judge._answer(tmp_path, (), ended)

    def test_problem(self, tmp_path):
        (tmp_path / "answer.json").write_text(json.dumps({"problem": "why", "seconds": None}))
        ended = subprocess.CompletedProcess([], 0, "", "")
        assert judge._answer(tmp_path, (), ended) == judge.HardwareRun(None, None, "why")


class TestExplain:
    """The driver's codes in words."""

    @pytest.mark.parametrize(
        ("error", "sentence"),
        [
            (
                RuntimeError("Call to cuCtxSynchronize results in CUDA_ERROR_ILLEGAL_ADDRESS"),
                (
                    "on the GPU the kernel failed: it read or wrote outside its arrays "
                    "(CUDA_ERROR_ILLEGAL_ADDRESS)"
                ),
            ),
            (TypeError("a\n  b"), "on the GPU the kernel failed with TypeError: a b"),
        ],
    )
    def test_sentence(self, error, sentence):
        assert judge.explain(error) == sentence
