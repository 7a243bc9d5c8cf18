"""Run the random kernels of `fuzz_kernels.json` on a GPU and keep what they give.

    python3 tests/simt/silicon/record_fuzz.py OUT.json

Needs numba-cuda and a device; the simulator's tests compare with the recorded file.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from numba import cuda

DATA = np.array([3, -7, 11, 2, -1, 40, 9, -13, 5, 0, 1, 77, -20], np.int64)
THREADS, CELLS = 96, 4


def main() -> None:
    """Record every kernel's output."""
    warnings.simplefilter("ignore")  # small grids are what is wanted here
    here = Path(__file__).parent
    found = json.loads((here / "fuzz_kernels.json").read_text())
    names: dict = {}
    exec(found["helper"], names)  # noqa: S102 (our own text)
    helper = cuda.jit(device=True)(names["helper"])
    outputs = []
    for source in found["kernels"]:
        scope = {"cuda": cuda, "helper": helper}
        exec(source, scope)  # noqa: S102
        out = np.zeros((THREADS, CELLS), np.int64)
        cuda.jit(scope["kernel"])[3, 32](out, DATA)
        outputs.append(out.tolist())
    device = cuda.get_current_device()
    record = {"device": str(device.name), "command": " ".join(sys.argv), "outputs": outputs}
    Path(sys.argv[1]).write_text(json.dumps(record))
    print(f"{len(outputs)} kernels on {record['device']}")


if __name__ == "__main__":
    main()
