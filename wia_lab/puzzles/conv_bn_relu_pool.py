"""12 conv-bn-relu-pool: four steps of a network's block in one kernel, one pass over memory.

Shapes: image (H, W), weights (F, 3, 3), scale and shift (F,), out (F, H // 2, W // 2), float32, C
order. A block of 16 × 16 threads makes 16 × 16 outputs of every filter; the grid covers the last
two axes of out, x along columns. In the source documents these are four calls of a library, each
of which reads and writes all of its data (chapter 3, 3.6.1), the norm behind the ReLU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.puzzles.formulas.conv_block import REACH, SIDE, SUSPECTS, reference, rounding
from wia_lab.puzzles.gates import most
from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run
from wia_lab.wording import counted

if TYPE_CHECKING:
    import numpy as np

BLOCK = (SIDE, SIDE)


def cases(rng: np.random.Generator) -> list[Case]:
    """Whole tiles, odd sides, a narrow image, and one output."""
    shapes = ((3, 64, 96), (2, 37, 75), (2, 101, 3), (1, 2, 2))
    return [_case(*shape, rng) for shape in shapes]


def _case(filters: int, height: int, width: int, rng: np.random.Generator) -> Case:
    below, across = height // 2, width // 2
    return Case(
        name=f"image {height}×{width}, {counted(filters, 'filter')}",
        arguments={
            "out": poisoned((filters, below, across)),
            "image": distinct((height, width), rng),
            "weights": distinct((filters, 3, 3), rng),
            "scale": distinct(filters, rng),
            "shift": distinct(filters, rng),
        },
        outputs=("out",),
        grid=(*cover((across, below), BLOCK), 1),
        block=BLOCK,
        measured=below % SIDE == across % SIDE == 0,
    )


# What is counted on whole tiles.


def _outputs(case: Case) -> int:
    return int(case.arguments["out"].size)


def naive_loads(case: Case) -> int:
    """Bytes of the image: 9 pixels for each of 4 sums of each output, less those outside."""
    filters, below, across = case.arguments["out"].shape
    inside = (3 * 2 * below - 2) * (3 * 2 * across - 2)
    return int(4 * filters * inside)


def tile_loads(case: Case) -> int:
    """Bytes of the image: each block fetches its 34 × 34 pixels once, those outside of it not."""
    height, width = case.arguments["image"].shape

    def fetched(length: int) -> int:
        blocks = -(-(length // 2) // SIDE)
        return blocks * REACH - 2  # the first and the last reach out by one

    return int(4 * fetched(height) * fetched(width))


def _image_bytes(run: Run) -> int | None:
    return int(run.arrays["image"].counters.global_load_bytes) if "image" in run.arrays else None


HINTS = (
    """\
Work backwards from one output. It is the greatest of four numbers. Each of these needs 3 × 3
pixels. Together: 4 × 4 pixels. A block has 16 × 16 outputs. Which square of the image does it need,
and where does that begin? Every filter needs the same square, so fetch it once.""",
    """\
The square has 34 × 34 pixels and begins at row 32 * blockIdx.y - 1, column 32 * blockIdx.x - 1. The
block has 16 × 16 threads, so each fetches several:

    for i in range(y, 34, 16):
        for j in range(x, 34, 16):
            tile[i, j] = ...    # 0 outside the image

Then one cuda.syncthreads(). From there on each thread is alone: for each filter it keeps the
greatest of four normed sums in a register. From what value can it start, so that ReLU comes
free?""",
    """\
After the barrier, for a thread whose (row, column) lies inside out:

    for f in range(weights.shape[0]):
        best = float32(0)                    # starting from 0 is ReLU
        for p in range(2):
            for q in range(2):
                total = float32(0)
                for u in range(3):
                    for v in range(3):
                        total += tile[2 * y + p + u, 2 * x + q + v] * weights[f, u, v]
                best = max(best, ...)        # the sum, scaled and shifted
        out[f, row, column] = best""",
)

PUZZLE = Puzzle(
    number=12,
    id="conv-bn-relu-pool",
    title="Four steps in one kernel",
    teaches="what stays in registers and shared memory between two steps costs no bandwidth",
    function="conv_bn_relu_pool",
    signature=("out", "image", "weights", "scale", "shift"),
    cases=cases,
    reference=reference,
    rounding=rounding,
    suspects=SUSPECTS,
    unfilled="Pixels outside the image count as 0, and are stored to the tile as such.",
    gates=(
        Gate(
            name="bytes of image loaded",
            measure=_image_bytes,
            naive=naive_loads,
            at_least=lambda case: int(case.arguments["image"].nbytes),
            at_most=lambda case: 1.1 * tile_loads(case),
            naive_is="no tile",
            where=most("global_load_bytes", of="image"),
            advice=(
                "The image is fetched more than once: let each block take its 34 × 34 pixels into "
                "shared memory, once for all filters."
            ),
        ),
        Gate(
            name="bytes stored",
            measure=lambda run: int(run.counters.global_store_bytes),
            naive=lambda case: 4 * _outputs(case) * (4 + 4 + 4 + 1),  # four kernels, one a step
            at_least=lambda case: 4 * _outputs(case),
            at_most=lambda case: 1.1 * 4 * _outputs(case),
            naive_is="four kernels",
            where=most("global_store_bytes"),
            advice="Only the pooled numbers go to memory, each once: keep the rest in registers.",
        ),
    ),
    hints=HINTS,
)
