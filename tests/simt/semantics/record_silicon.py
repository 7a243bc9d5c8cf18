"""Records what hardware computes for each row of silicon_table.py, in silicon.npz.

    python record_silicon.py compile DIR    with numba-cuda; needs no GPU
    python record_silicon.py run DIR        with CuPy and a GPU; writes DIR/silicon.npz

Two steps, since the machine with the GPU need not have Numba: the first leaves PTX, one kernel a
row, the second launches it. Numba passes an array as seven words: two unused, the number of
elements, their size, the address, the shape, the strides.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from silicon_table import NAMES_OF_TYPES, operands, rows

UNARY = """
def kernel(out, a_lanes):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = f(a_lanes[i])
"""
BINARY = UNARY.replace("a_lanes):", "a_lanes, b_lanes):").replace("[i])", "[i], b_lanes[i])")


def compile_rows(folder: Path) -> None:
    """PTX of a kernel for every row."""
    import math

    import numba.cuda.dispatcher
    from numba import cuda, types
    from numba.cuda import libdevice

    device = type("Device", (), {"compute_capability": (9, 0)})
    numba.cuda.dispatcher.get_current_device = device
    names = {"math": math, "cuda": cuda, "libdevice": libdevice, "max": max, "min": min}
    names |= {"round": round, **{name: getattr(types, name) for name in NAMES_OF_TYPES}}
    for number, (expression, result, arguments) in enumerate(rows()):
        scope: dict[str, Any] = dict(names)
        exec(f"def f({', '.join('ab'[: len(arguments)])}): return {expression}", scope)
        scope["f"] = cuda.jit(device=True)(scope["f"])
        exec(BINARY if len(arguments) == 2 else UNARY, scope)
        arrays = tuple(types.Array(getattr(types, n), 1, "C") for n in (result, *arguments))
        ptx, _ = cuda.compile_ptx(scope["kernel"], arrays, cc=(9, 0))
        ptx = re.sub(r"\.version \S+", ".version 9.0", ptx)  # what a driver for CUDA 13.0 takes
        entry = re.search(r"\.entry (\w+)\(", ptx).group(1)
        (folder / f"{number}.ptx").write_text(ptx.replace(entry, "kernel"))
    columns = {
        f"{number}.{place}": column
        for number, (expression, _, arguments) in enumerate(rows())
        for place, column in enumerate(operands(arguments, expression))
    }
    np.savez(folder / "operands.npz", **columns)
    (folder / "results.json").write_text(json.dumps([result for _, result, _ in rows()]))


def run_rows(folder: Path) -> None:
    """Launch every kernel, and keep what it wrote."""
    import cupy

    columns = np.load(folder / "operands.npz")
    written = {}
    for number, result in enumerate(json.loads((folder / "results.json").read_text())):
        names = [name for name in columns.files if name.startswith(f"{number}.")]
        lanes = [cupy.asarray(columns[name]) for name in names]
        out = cupy.zeros(lanes[0].size, result)
        kernel = cupy.RawModule(path=str(folder / f"{number}.ptx")).get_function("kernel")
        words = tuple(word for array in (out, *lanes) for word in _descriptor(array))
        kernel(((out.size + 127) // 128,), (128,), words)
        written[str(number)] = cupy.asnumpy(out)
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    driver = cupy.cuda.runtime.driverGetVersion()
    np.savez_compressed(folder / "silicon.npz", about=f"{name}, driver API {driver}", **written)


def _descriptor(array: Any) -> list[Any]:
    size, itemsize = np.int64(array.size), np.int64(array.itemsize)
    return [np.uint64(0), np.uint64(0), size, itemsize, np.uint64(array.data.ptr), size, itemsize]


if __name__ == "__main__":
    step, target = sys.argv[1], Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    {"compile": compile_rows, "run": run_rows}[step](target)
