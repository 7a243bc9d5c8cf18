"""The simulator counts what an H200 counts: the recorded table, kernel by kernel."""

from __future__ import annotations

import re

import pytest

from wia_lab.kernels.silicon.suite import CASES
from wia_lab.kernels.silicon.table import (
    EXPLAINED,
    LOADED_BYTES,
    header,
    recorded,
    render,
    rows,
)
from wia_lab.simt.launch import simulate

CONTROL = [case for case in CASES.values() if case.kernel.__module__.endswith("control")]


def report(name):
    case = CASES[name]
    return simulate(case.kernel, case.grid, case.block, *case.arguments())


class TestTable:
    """What was recorded, and how."""

    def test_says_where_it_comes_from(self) -> None:
        """Date, device, driver, versions and command stand in the table's header."""
        text = "\n".join(header())
        assert re.search(r"\d{4}-\d\d-\d\d, NVIDIA H200, \d+\.\d+", text)
        assert "numba-cuda 0.30.4" in text
        assert "ncu --csv --page raw --clock-control none --metrics" in text

    def test_holds_every_kernel_of_the_suite(self) -> None:
        """Each case has its row, and no row lacks its case; there are more than 30."""
        assert set(recorded()) == set(CASES)
        assert len(CASES) > 30

    def test_at_most_three_kernels_may_differ(self) -> None:
        """Three at most are explained rather than equal."""
        assert len(EXPLAINED) <= 3
        assert set(EXPLAINED) <= set(CASES)


@pytest.mark.parametrize("name", [name for name in CASES if name not in EXPLAINED])
def test_counters_equal(name: str) -> None:
    """Every counter of the kernel equals the recorded one."""
    assert [row for row in rows(CASES[name]) if not row.equal] == []


@pytest.mark.parametrize("case", CONTROL, ids=lambda case: case.name)
def test_active_lanes_of_loads(case) -> None:
    """Where lanes part, loads are executed by as many lanes as on hardware: 4 bytes each."""
    assert report(case.name).counters.global_load_bytes == int(recorded()[case.name][LOADED_BYTES])


class TestExplained:
    """Kernels that the compiler changes: equal once its instructions are counted."""

    def test_tiled_matmul(self) -> None:
        """Four LDS.128 stand for the 16 loads of one factor, each of 2 wavefronts."""
        (differing,) = [row for row in rows(CASES["tiled-matmul"]) if not row.equal]
        assert differing.counter == "shared_load_wavefronts"
        assert "LDS×16" in recorded()["tiled-matmul"]["sass"]
        assert "LDS.128×4" in recorded()["tiled-matmul"]["sass"]
        one_factor = differing.simulated // 2
        assert one_factor + one_factor // 4 * 2 == differing.recorded

    def test_async_convolution(self) -> None:
        """One LDS.128 of 2 wavefronts stands for four of the five weights.

        The last warp has 8 active lanes: one quarter, so one wavefront.
        """
        (differing,) = [row for row in rows(CASES["async-convolution"]) if not row.equal]
        assert differing.counter == "shared_load_wavefronts"
        assert "LDS.128×1" in recorded()["async-convolution"]["sass"]
        warps = differing.simulated // 10
        assert differing.simulated - warps * 4 + warps * 2 - 1 == differing.recorded

    def test_atomic_add_one_cell(self) -> None:
        """One lane of each warp sends the warp's sum: a sector a request."""
        (differing,) = [row for row in rows(CASES["atomic-add-one-cell"]) if not row.equal]
        assert differing.counter == "global_atomic_sectors"
        assert "REDUX.SUM×1" in recorded()["atomic-add-one-cell"]["sass"]
        counters = report("atomic-add-one-cell").counters
        assert counters.global_atomic_requests == differing.recorded


def test_render_names_what_differs() -> None:
    """The text table marks each counter and explains each kernel that differs."""
    text = render(["strided-8", "atomic-add-one-cell"])
    assert re.search(r"strided-8 +global_load_sectors +8,192 +8,192  =", text)
    assert re.search(r"atomic-add-one-cell +global_atomic_sectors +1,024 +32  differs", text)
    assert text.endswith("1 of 2 kernels equal")
    assert "REDUX.SUM" in text
