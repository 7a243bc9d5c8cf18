"""Correct kernels give no hazard; one fault planted in a copy is found, on its lines, alone."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent / "seeded"))

import copies
import launches
import programs
import reductions
import tiles
import warps
from planting import launched, line_of, planted, summary

MODULES = (tiles, reductions, warps, launches, copies, programs)
ORIGINALS = {name: each for module in MODULES for name, each in module.ORIGINALS.items()}
FAULTS = [each for module in MODULES for each in module.FAULTS]


def test_there_are_enough() -> None:
    """Every fault has a name of its own, and every correct kernel a fault."""
    assert len(FAULTS) >= 100
    assert len({each.id for each in FAULTS}) == len(FAULTS)
    assert {each.original for each in FAULTS} == set(ORIGINALS)


@pytest.mark.parametrize("warp_order", [None, 1, 2], ids=["lockstep", "drawn 1", "drawn 2"])
@pytest.mark.parametrize("name", ORIGINALS)
def test_no_false_alarm(name: str, warp_order: int | None) -> None:
    """A correct kernel is right and gets no hazard, whatever warp runs first."""
    original = ORIGINALS[name]
    report, arguments, expected = launched(original, original.kernel, warp_order=warp_order)
    assert [str(each) for each in report.hazards] == []
    for position, value in expected.items():
        np.testing.assert_allclose(arguments[position], value, rtol=original.rtol)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_fault_is_found(fault) -> None:
    """Kind, severity and lines are those expected, and there is one message a cause."""
    original = ORIGINALS[fault.original]
    kernel, source = planted(original, fault.edits)
    report, _, _ = launched(original, kernel)
    wanted = sorted({each.located(source) for each in fault.said}, key=str)
    assert summary(report.hazards) == wanted, "\n".join(map(str, report.hazards))
    causes = [(each.kind, each.line, each.other_line, each.array) for each in report.hazards]
    assert len(set(causes)) == len(causes)


class TestOneWarpAtATime:
    """A message tells of a loop only where there is one, in whatever order the warps run."""

    @pytest.mark.parametrize("seed", range(4))
    def test_no_loop(self, seed: int) -> None:
        original = ORIGINALS["transpose"]
        kernel, _ = planted(original, ((tiles.SYNC, ""),))
        report, _, _ = launched(original, kernel, warp_order=seed)
        assert "race" in {each.kind for each in report.errors}
        assert "loop" not in " ".join(each.message for each in report.hazards)

    def test_loop(self) -> None:
        original = ORIGINALS["matmul"]
        kernel, source = planted(original, (("        cuda.syncthreads()  # read\n", ""),))
        report, _, _ = launched(original, kernel)
        first, last = line_of(source, "left[y, x] ="), line_of(source, "total +=")
        end = f"after line {last}, before the loop comes back to line {first}"
        assert report.hazards[0].message.endswith(end)


def test_threads_of_the_block_concerned_are_named() -> None:
    """Where blocks wait at different barriers, those of the divergent one are named."""
    original = ORIGINALS["matmul"]
    fault = next(each for each in FAULTS if each.name == "barrier for some rows only")
    report, _, _ = launched(original, planted(original, fault.edits)[0])
    (hazard,) = report.errors
    assert {each.block for each in hazard.threads} == {(0, 2)}
