"""Correct kernels give no hazard; one fault planted in a copy is found, on its lines, alone."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent / "seeded"))

import copies
import launches
import reductions
import tiles
import warps
from planting import launched, planted, summary

MODULES = (tiles, reductions, warps, launches, copies)
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
