"""Constants of asynchronous copies belong to their call, also with several in one process."""

from __future__ import annotations

import importlib.util
import re

import pytest
from numba import float32

from wia_lab import cuda

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("numba_cuda") is None,
        reason="numba-cuda is not installed: it is in the extras cuda12 and cuda13",
    ),
    pytest.mark.filterwarnings("ignore"),  # what numba-cuda warns of is not ours
]

FOUR, ONE = 4, 1


@cuda.jit
def several(out, a):
    cells = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    cuda.cp_async(cells, t, a, t)
    cuda.cp_async(cells, 4 * t, a, 4 * t, FOUR)
    cuda.cp_async(cells, 2 * t, a, 2 * t, 2)
    cuda.cp_async_commit_group()
    cuda.cp_async_wait_group(2)
    cuda.cp_async_wait_group(ONE)
    cuda.cp_async_wait_group(0)
    cuda.syncthreads()
    out[t] = cells[t]


@cuda.jit
def one_more(out, a):
    cells = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    cuda.cp_async(cells, t, a, t)
    cuda.cp_async_wait_group(2)
    cuda.syncthreads()
    out[t] = cells[t]


@cuda.jit
def tiles(out, a):
    cells = cuda.shared.array(256, float32)
    cuda.copy_dram_to_sram_async(cells, a, 0, 64)
    cuda.copy_dram_to_sram_async(cells, a, 0, 100)
    cuda.cp_async_wait_all()
    cuda.syncthreads()
    out[cuda.threadIdx.x] = cells[cuda.threadIdx.x]


def ptx_of(kernel):
    """PTX of a kernel over two vectors."""
    from wia_lab.cuda.rebind import compile_ptx

    return compile_ptx(kernel, (float32[::1], float32[::1]), (9, 0))[0]


def test_each_call_keeps_its_constant() -> None:
    """Bytes copied and groups waited for are those of the call, also where types are alike."""
    for kernel, sizes, groups in (
        (several, ["4", "16", "8"], ["2", "1", "0"]),
        (one_more, ["4"], ["2"]),
    ):
        ptx = ptx_of(kernel)
        assert re.findall(r"cp\.async\.ca[^;]*, (\d+);", ptx) == sizes
        assert re.findall(r"cp\.async\.wait_group (\d+);", ptx) == groups


def test_each_tile_keeps_its_length() -> None:
    """Two tiles of different lengths in one kernel are bounded each by its own."""
    ptx = ptx_of(tiles)
    assert re.search(r"setp\.\w+\.s64\s+%p\d+, %rd\d+, 6[34];", ptx)
    assert re.search(r"setp\.\w+\.s64\s+%p\d+, %rd\d+, (99|100);", ptx)
