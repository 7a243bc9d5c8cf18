"""What the HAL adds on real devices, as it was recorded: `benchmarks/hal_hardware.py`."""

from __future__ import annotations

import csv
from importlib.resources import files

import pytest


@pytest.fixture(scope="module")
def recorded() -> dict[str, float]:
    """Value of each row."""
    text = files("wia_lab").joinpath("data", "overheads_h200.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {row["what"]: float(row["value"]) for row in csv.DictReader(lines)}


def test_a_launch_costs_the_host_little(recorded: dict[str, float]) -> None:
    """Less than 10 µs beside Numba's own launch of the same run."""
    assert recorded["launch, added by the HAL"] < 10
    own = recorded["launch, Numba"] + recorded["launch, added by the HAL"]
    assert own == pytest.approx(recorded["launch, launch_kernel_async"], rel=1e-3)


@pytest.mark.parametrize(
    "what",
    [
        "pinned copy to the device, HAL over Numba",
        "pinned copy to the host, HAL over Numba",
        "peer copy, access not enabled, HAL over cuMemcpyPeer",
        "peer copy, access enabled, HAL over cuMemcpyPeer",
    ],
)
def test_copies_are_as_fast(recorded: dict[str, float], what: str) -> None:
    """At least 95 % of the same copy without the HAL."""
    assert recorded[what] >= 0.95


def test_access_makes_copies_straight(recorded: dict[str, float]) -> None:
    """Without access the driver stages a copy through the host, as virtual machines have it."""
    staged = recorded["peer copy, access not enabled, cuMemcpyPeer"]
    assert recorded["peer copy, access enabled, cuMemcpyPeer"] > 5 * staged
