"""Random kernels give, thread by thread, what plain Python gives."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from wia_lab import simulate

sys.path.insert(0, str(Path(__file__).parent))
from kernel_fuzz import CELLS, DATA, THREADS, expected, kernel_of, programs

_RELAXED = {
    "deadline": None,
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
}


def _agrees(program: tuple[str, str], **options: int) -> None:
    numba, python = program
    out = np.zeros((THREADS, CELLS), np.int64)
    report = simulate(kernel_of(numba), 3, 32, out, DATA, **options)
    np.testing.assert_array_equal(out, expected(python), err_msg=numba)
    assert not report.errors, numba


@settings(max_examples=40, derandomize=True, **_RELAXED)
@given(programs())
def test_lockstep(program: tuple[str, str]) -> None:
    """All threads in lockstep, three warps."""
    _agrees(program)


@settings(max_examples=10, derandomize=True, **_RELAXED)
@given(programs())
def test_warp_by_warp(program: tuple[str, str]) -> None:
    """The same in a drawn order of warps."""
    _agrees(program, warp_order=1)


RECORDED = json.loads((Path(__file__).parent / "silicon" / "fuzz_h200.json").read_text())
KERNELS = json.loads((Path(__file__).parent / "silicon" / "fuzz_kernels.json").read_text())


@pytest.mark.parametrize("part", range(5))
def test_an_h200_gives_the_same(part: int) -> None:
    """Bit for bit what `silicon/record_fuzz.py` recorded on an H200."""
    outputs, kernels = RECORDED["outputs"][part::5], KERNELS["kernels"][part::5]
    assert len(outputs) == len(kernels) == 20
    for expected_out, source in zip(outputs, kernels, strict=True):
        out = np.zeros((THREADS, CELLS), np.int64)
        simulate(kernel_of(source), 3, 32, out, DATA)
        assert out.tolist() == expected_out, source


@pytest.mark.slow
@settings(max_examples=400, **_RELAXED)
@given(programs())
def test_many(program: tuple[str, str]) -> None:
    """Many more, anew each time."""
    _agrees(program)
