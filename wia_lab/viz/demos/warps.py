"""Two explorers of one warp: its sectors in global memory, its banks in shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.viz.banks import banks
from wia_lab.viz.demos.demo import Demo, choice, slider
from wia_lab.viz.demos.source import compiled, simulated
from wia_lab.viz.sectors import sectors

if TYPE_CHECKING:
    from wia_lab.viz.picture import Picture

ELEMENTS = {1: "uint8", 2: "float16", 4: "float32", 8: "float64", 16: "complex128"}
MOST_STRIDE = 32

READ = """\
@cuda.jit
def read(out, a, stride, offset):
    i = cuda.grid(1)
    out[i] = a[i * stride + offset]
"""

READ_TILE = """\
@cuda.jit
def read_tile(out, stride, padding):
    tile = cuda.shared.array(CELLS, ELEMENT)
    i = cuda.threadIdx.x
    for k in range(i, CELLS, 32):
        tile[k] = k
    cuda.syncthreads()
    j = i * stride
    out[i] = tile[j + j // 32 * padding]
"""
MOST_PADDING = 4
CELLS = 31 * MOST_STRIDE + 31 * MOST_PADDING + 1


class WarpExplorer(Demo):
    """Which sectors one load of a warp touches: stride, offset, element size."""

    title = "Warp explorer: 32 lanes load from global memory"
    question = "How many 32-byte sectors will this load touch? How many bytes are wasted?"

    def __init__(self) -> None:
        super().__init__(
            {
                "stride": slider(0, MOST_STRIDE, 4, "stride"),
                "offset": slider(0, 31, 0, "offset"),
                "size": choice([(f"{n} B", n) for n in ELEMENTS], 4, "element size"),
                "show": choice([("the load of a", "a"), ("the store to out", "out")], "a", "show"),
            },
            READ,
        )

    def picture(self, **values: Any) -> Picture:
        size, stride, offset = values["size"], values["stride"], values["offset"]
        a = np.zeros(31 * MOST_STRIDE + 32, ELEMENTS[size])
        out = np.zeros(32, ELEMENTS[size])
        report = simulated(compiled(self.source, self.file), 1, 32, out, a, stride, offset)
        return sectors(report, array=values["show"])


class BankExplorer(Demo):
    """Which banks one load of a warp asks: padding, stride, width."""

    title = "Bank explorer: 32 lanes load from a tile in shared memory"
    question = "How many wavefronts will this load take? Which banks are asked twice?"

    def __init__(self) -> None:
        super().__init__(
            {
                "stride": slider(0, MOST_STRIDE, 32, "stride"),
                "padding": slider(0, MOST_PADDING, 0, "padding after each 32"),
                "width": choice([(f"{n} B", n) for n in ELEMENTS if n > 2], 4, "element size"),
            },
            READ_TILE,
        )

    def picture(self, **values: Any) -> Picture:
        stride, padding = values["stride"], values["padding"]
        element = np.dtype(ELEMENTS[values["width"]]).type
        kernel = compiled(self.source, self.file, {"CELLS": CELLS, "ELEMENT": element})
        report = simulated(kernel, 1, 32, np.zeros(32, element), stride, padding)
        return banks(report, kind="load")
