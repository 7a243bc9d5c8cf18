"""Every kernel of every ladder compiles for each compute capability, with no GPU."""

from __future__ import annotations

import importlib.util
from functools import cache

import numba
import numpy as np
import pytest

from wia_lab.kernels import hierarchy
from wia_lab.kernels.workloads import WORKLOADS

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("numba_cuda") is None,
        reason="numba-cuda is not installed: it is in the extras cuda12 and cuda13",
    ),
    pytest.mark.filterwarnings("ignore"),  # what numba-cuda warns of is not ours
]

CAPABILITIES = [(7, 5), (8, 0), (9, 0), (10, 0)]
INTS, FLOATS = np.zeros(4, np.uint32), np.zeros(4, np.float32)
LEVELS = {
    "chase": (hierarchy.chase, (INTS, INTS, 4)),
    "chase-shared": (hierarchy.chase_shared, (INTS, INTS, 4)),
    "sweep": (hierarchy.sweep, (FLOATS, FLOATS, 4, 1)),
    "sweep-shared": (hierarchy.sweep_shared, (FLOATS, FLOATS, 4)),
}


@cache
def launched():
    """Kernel and arguments of each launch that differs from those before it."""
    found = dict(LEVELS)
    for workload in WORKLOADS:
        topic = workload.topic
        arguments = topic.arguments(np.random.default_rng(3), *topic.sizes[-1])
        for step in topic.steps:
            for each in step.plan(*arguments):
                kinds = ", ".join(str(numba.typeof(value)) for value in each.arguments)
                found.setdefault(f"{each.kernel.name}({kinds})", (each.kernel, each.arguments))
    return found


@pytest.mark.parametrize("cc", CAPABILITIES, ids=lambda cc: f"sm_{cc[0]}{cc[1]}")
@pytest.mark.parametrize("name", launched())
def test_compiles(name, cc) -> None:
    """PTX for the capability; cp.async from sm_80 on only; no array in local memory."""
    from wia_lab.cuda.rebind import compile_ptx

    kernel, arguments = launched()[name]
    ptx, _ = compile_ptx(kernel, tuple(numba.typeof(each) for each in arguments), cc)
    assert f".target sm_{cc[0]}{cc[1]}" in ptx
    assert ".visible .entry" in ptx
    assert cc >= (8, 0) or "cp.async" not in ptx
    assert "__local_depot" not in ptx
