"""What an H200 computed for the rows of silicon_table.py (see record_silicon.py), lane by lane.

Recorded 2026-11-29 on an NVIDIA H200, driver 580.159.04 (CUDA 13.0), PTX by numba-cuda 0.30.4.
"""

from __future__ import annotations

import math
import operator
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import types

from wia_lab.simt import stubs
from wia_lab.simt.semantics import cast, operation

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from silicon_table import NAMES_OF_TYPES, operands, rows  # noqa: E402

OPERATORS = {
    "+": operator.add,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
    "//": operator.floordiv,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
BUILTINS = {"max": max, "min": min, "round": round}

UNITS = {"math.lgamma": 128, "libdevice.rcbrt": 3, "libdevice.rcbrtf": 3}
"""Functions that may differ by more than 2 units in the last place, and by how many.

lgamma is ill-conditioned near its zeros; rcbrt is rounded twice on either side.
"""
EXACT_NAMES = """
max min round fmod remainder copysign ceil floor trunc fabs sqrt degrees radians
rint rintf round roundf logb logbf fdim fdimf nextafter nextafterf saturatef
"""
EXACT = re.compile(
    r"a (\+|\*|/|%|//) b|float\d+\(a\)|libdevice\.\w+_r[duz]\(.*"
    rf"|((math|libdevice)\.)?({'|'.join(EXACT_NAMES.split())})\(.*"
)
"""Rows of floats that agree bit for bit, as does every row whose result is an integer."""


def compute(expression: str, result: str, arguments: tuple[str, ...], lanes: list[np.ndarray]):
    """What the simulator makes of a row."""
    if match := re.fullmatch(r"a (\S+) b", expression):
        key = OPERATORS[match[1]]
    else:
        name = expression.partition("(")[0]
        if name in NAMES_OF_TYPES:
            return cast(getattr(types, arguments[0]), getattr(types, name))(*lanes)
        module, _, function = name.rpartition(".")
        if name in BUILTINS:
            key = BUILTINS[name]
        else:
            key = getattr(
                {"math": math, "cuda": stubs, "libdevice": stubs.libdevice}[module], function
            )
    kinds = [getattr(types, name) for name in arguments]
    if expression == "round(a, 2)":
        lanes, kinds = [*lanes, np.int64(2)], [*kinds, types.int64]
    return operation(key, getattr(types, result)(*kinds))(*lanes)


def distance(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Units in the last place between floats; 0 for two nans, infinite for other oddities."""
    same = (ours == theirs) & (np.signbit(ours) == np.signbit(theirs))
    same |= np.isnan(ours) & np.isnan(theirs)
    near = np.isfinite(ours) & np.isfinite(theirs) & (np.signbit(ours) == np.signbit(theirs))
    bits = [value.view(f"i{value.itemsize}").astype(np.int64) for value in (ours, theirs)]
    units = np.where(near, np.abs(bits[0] - bits[1]).astype(np.float64), math.inf)
    return np.where(same, 0.0, units)


@pytest.fixture(scope="module")
def silicon() -> dict[str, np.ndarray]:
    """Lanes that the hardware wrote, by the row's number."""
    with np.load(HERE / "silicon.npz") as recorded:
        return dict(recorded)


def test_the_record_covers_the_table(silicon):
    """One array a row."""
    assert len(silicon) - 1 == len(rows())
    assert "H200" in str(silicon["about"])


ROWS = list(enumerate(rows()))


@pytest.mark.parametrize(("number", "row"), ROWS, ids=[f"{row[0]} of {row[2]}" for _, row in ROWS])
def test_row(number, row, silicon):
    """Integers and exactly defined floats bit for bit, functions to 2 units in the last place."""
    expression, result, arguments = row
    theirs = silicon[str(number)]
    ours = np.asarray(compute(expression, result, arguments, operands(arguments, expression)))
    assert ours.dtype == theirs.dtype == np.dtype(result)
    assert ours.shape == theirs.shape
    if theirs.dtype.kind in "iu":
        np.testing.assert_array_equal(ours, theirs)
        return
    units = distance(ours, theirs)
    name = expression.partition("(")[0]
    exact = EXACT.fullmatch(expression) or arguments[1:] in {("int32",), ("int64",)}
    allowed = 0 if exact else UNITS.get(name, 2)
    assert units.max() <= allowed, [lane[units > allowed] for lane in (ours, theirs)]
