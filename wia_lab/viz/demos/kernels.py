"""Demos of whole kernels: a tiled product step by step, a roofline, a debugger of a warp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets as widgets
import numpy as np

from wia_lab import machines
from wia_lab.viz.demos.demo import WORDS, Demo, choice, slider, stepper
from wia_lab.viz.demos.source import compiled, kernels, simulated
from wia_lab.viz.phases import phase_map, phases
from wia_lab.viz.roof import roofline
from wia_lab.viz.steps import MOST_VARIABLES, step_map, variables

if TYPE_CHECKING:
    from wia_lab.simt.report import Report
    from wia_lab.viz.picture import Picture

TILE = 8
MOST_STEPS = 2000

TILED = """\
@cuda.jit
def tiled(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for t in range(a.shape[1] // TILE):
        tile_a[y, x] = a[row, t * TILE + x]
        tile_b[y, x] = b[t * TILE + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, column] = total
"""

NAIVE = """\
@cuda.jit
def naive(a, b, c):
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, column]
    c[row, column] = total


"""

COLLATZ = """\
@cuda.jit
def steps_to_one(out, a):
    i = cuda.grid(1)
    n = a[i]
    count = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
    out[i] = count
"""


def matrices(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two square matrices and the place for their product."""
    a = np.arange(size * size, dtype=np.float32).reshape(size, size) % 7
    return a, a.T.copy(), np.zeros((size, size), np.float32)


class TileStepper(Demo):
    """A tiled matrix product, barrier by barrier."""

    title = "Tile stepper: one block of a tiled matrix product, barrier by barrier"
    question = "What does the block read and write up to the next barrier?"

    def __init__(self) -> None:
        self._known: tuple[Any, Any] = (None, None)
        step, row = stepper(1, MOST_STEPS, 3, "step")
        controls = {
            "step": step,
            "tiles": slider(2, 4, 3, "tiles along K"),
            "block": slider(0, 15, 4, "block"),
        }
        super().__init__(controls, TILED, {"step": row})

    def picture(self, **values: Any) -> Picture:
        tiles = values["tiles"]
        block = min(values["block"], tiles * tiles - 1)
        key = (self.source, tiles, block)
        if self._known[0] != key:
            kernel = compiled(self.source, self.file, {"TILE": TILE})
            report = simulated(kernel, (tiles, tiles), (TILE, TILE), *matrices(tiles * TILE))
            self._known = (key, phases(report, block=block))
        found = self._known[1]
        self.controls["step"].max = len(found)
        return phase_map(found, values["step"] - 1, block=block)


class RooflineDemo(Demo):
    """Every kernel of the text on one roofline."""

    title = "Roofline: variants of a matrix product"
    question = "Which kernel stands further to the right, and which higher?"
    edited = "The kernels. Each one that takes (a, b, c) gets a mark:"

    def __init__(self) -> None:
        self._known: tuple[Any, Any] = (None, None)
        devices = list(machines.DEVICES)
        controls = {
            "size": slider(16, 64, 48, "rows and columns", 16),
            "device": choice(devices, "H200", "device"),
        }
        super().__init__(controls, NAIVE + TILED)

    def picture(self, **values: Any) -> Picture:
        size, device = values["size"], values["device"]
        if self._known[0] != self.source:
            self._known = (self.source, kernels(self.source, self.file, {"TILE": TILE}))
        grid = (size // TILE, size // TILE)
        reports = {
            name: simulated(kernel, grid, (TILE, TILE), *matrices(size), device=device)
            for name, kernel in self._known[1].items()
        }
        return roofline(reports, device)


class WarpDebugger(Demo):
    """Walks one warp through its kernel, forward and back.

    Parameters
    ----------
    report : Report, optional
        What `simulate` returned; without one, a kernel that can be edited.
    """

    title = "Step debugger: one warp, line by line"
    question = "Which lanes are active next, and what do they hold?"

    def __init__(self, report: Report | None = None) -> None:
        self._given = report
        self._known: tuple[Any, Any, Any] = (None, None, None)
        step, row = stepper(1, MOST_STEPS, 1 if report else 31, "step")
        chosen = widgets.SelectMultiple(
            options=[], description=f"variables (≤ {MOST_VARIABLES})", rows=4, style=WORDS
        )
        controls = {"step": step, "chosen": chosen}
        if report is not None:
            blocks = int(np.prod(report.launch.grid))
            warps = -(-int(np.prod(report.launch.block)) // 32)
            controls["block"] = slider(0, blocks - 1, 0, "block")
            controls["warp"] = slider(0, warps - 1, 0, "warp")
        super().__init__(controls, COLLATZ if report is None else None, {"step": row})

    def picture(self, **values: Any) -> Picture:
        key = (self.source, values.get("block", 0), values.get("warp", 0))
        if self._known[0] != key:
            report = self._given or self._simulated()
            walk = report.step(key[1], key[2], limit=MOST_STEPS)
            self._known = (key, report, walk)
        _, report, walk = self._known
        names = variables(walk)
        chosen = self.controls["chosen"]
        if list(chosen.options) != names:
            chosen.options = names
            chosen.value = names[:3]
        self.controls["step"].max = max(len(walk), 1)
        return step_map(report, walk, values["step"] - 1, tuple(chosen.value))

    def _simulated(self) -> Report:
        a, out = np.arange(1, 33), np.zeros(32, np.int64)
        return simulated(compiled(self.source, self.file), 1, 32, out, a)
