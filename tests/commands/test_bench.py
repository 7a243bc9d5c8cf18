"""`wia-lab bench simulator`: right results timed, what was not measured marked as such."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from wia_lab.cli import main
from wia_lab.commands import bench_simulator
from wia_lab.commands.bench import BENCHES
from wia_lab.commands.bench_kernels import job


class TestJobs:
    """Each launch has a result that NumPy computes independently."""

    def test_a_wrong_result_is_not_timed(self):
        """A kernel that did nothing is refused."""
        with pytest.raises(AssertionError):
            job("vector-add").verify()

    def test_convolution_is_the_definition(self):
        """The expected convolution is the sum over the taps, zero outside the signal."""
        work = job("halo-convolution")
        _, signal, taps = work.arguments
        padded = np.concatenate([np.zeros(2), signal, np.zeros(2)])
        for i in (0, 1, 255, 256, 16382, 16383):
            assert work.expected[i] == pytest.approx(padded[i : i + 5] @ taps, rel=1e-5)

    @pytest.mark.parametrize("name", ["vector-add", "halo-convolution", "tiled-matmul-64"])
    def test_this_simulator_gives_it(self, name):
        """Two launches, each compared with NumPy, take a time each."""
        first, again = bench_simulator.time_ours(name)
        assert first > 0
        assert again > 0

    def test_numbas_simulator_gives_it(self):
        """Numba's own simulator runs the same kernel in a process of its own."""
        command = [sys.executable, "-m", "wia_lab.commands.bench_kernels", "tiled-matmul-16"]
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.stdout.startswith('{"tiled-matmul-16": '), done.stderr


@pytest.mark.parametrize("name", BENCHES)
def test_help_says_how_long_it_takes(name, capsys):
    """Whoever starts one knows for how long to wait."""
    assert main(["bench", name, "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"[Tt]akes (a few seconds|minutes|about [\w ]+)", said)


class TestTable:
    """What is printed."""

    @pytest.fixture
    def measured(self, monkeypatch):
        """Replace both measurements by known times; record what Numba was asked to run."""
        asked = []

        def numba(names):
            asked.extend(names)
            return dict.fromkeys(names, 60.0)

        monkeypatch.setattr(bench_simulator, "time_ours", lambda _name: (0.25, 0.1))
        monkeypatch.setattr(bench_simulator, "time_numba", numba)
        monkeypatch.setattr(bench_simulator, "warm", lambda: None)
        return asked

    def test_ratio_and_extrapolation(self, measured, capsys):
        """The ratio is Numba's time over this one's; 256 is marked as not measured."""
        assert main(["bench", "simulator"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[4].split() == ["tiled-matmul-128", "60.00", "0.250", "0.100", "600×"]
        assert lines[5].split()[:5] == ["tiled-matmul-256", "480.00", "0.250", "0.100", "4,800×"]
        assert lines[5].endswith("Numba's time extrapolated: 8 × 128")
        assert "tiled-matmul-256" not in measured

    def test_full(self, measured, capsys):
        """--full runs 256 on Numba's simulator, too."""
        main(["bench", "simulator", "--full"])
        assert "tiled-matmul-256" in measured
        assert "extrapolated" not in capsys.readouterr().out

    def test_numba_that_fails(self, monkeypatch):
        """A failure of Numba's simulator ends with 3, and no table is printed."""
        failed = subprocess.CompletedProcess([], 1, stdout="")
        monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
        monkeypatch.setattr(bench_simulator, "time_ours", lambda _name: (1.0, 1.0))
        assert main(["bench", "simulator"]) == 3
