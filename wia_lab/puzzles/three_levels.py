"""03 three-levels: one matrix product at three levels, each with more control and more work.

`ThreeLevels` has `simple(a, b)`, `configured(a, b)` and `own(a, b)`; each returns a new tensor with
the product of two float32 tensors. The source document (chapter 3, 3.1) leaves the algorithm open
at its second level, and at its third launches 128 × 128 blocks whatever the size is, on a `result`
that nobody made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wia_lab.puzzles.host_puzzle import HostCase, HostPuzzle, Step
from wia_lab.puzzles.puzzle import Gate
from wia_lab.puzzles.three_levels_judging import diagnose
from wia_lab.puzzles.three_levels_playing import LEVELS, PRODUCTS, play

if TYPE_CHECKING:
    import numpy as np

FREE = ("fill", "convert", "contiguous")
"""Operations of the library that compute nothing: level 3 may use them."""


def cases(rng: np.random.Generator) -> list[HostCase]:
    """Odd sizes, views and several devices; the last is measured."""
    odd, flat, tall, one = (37, 29, 50), (3, 67, 45), (70, 5, 19), (1, 1, 1)
    return [
        _case(rng, "one H100", "1xH100", *(_all(odd))),
        _case(rng, "a T4, without asynchronous copies", "1xT4", *_all(odd), *_all(tall)),
        _case(rng, "one element", "1xA100", *_all(one), *_all((1, 33, 1))),
        _case(rng, "few rows, and few columns", "1xL4", *_all(flat), *_all(tall)),
        _case(rng, "square", "1xH100", *_all((40, 40, 40)), *_all((16, 16, 16))),
        _case(rng, "views", "1xA100", *_views((19, 23, 41))),
        _case(rng, "the second of two devices", "T4+H100", *_all(odd), device=1),
        _case(rng, "unified memory", "1xH100", *_all(odd, "unified"), *_all(flat, "unified")),
        _case(rng, "the same sizes three times", "1xH100", *(("own", odd, "plain"),) * 3),
        _case(rng, "sizes drawn at random", "1xV100", *_drawn(rng)),
        _case(
            rng,
            "products of 64 × 96 and 96 × 80",
            "1xH100",
            *_all((64, 96, 80)),
            *_all((61, 90, 83), "inside"),
            measured=True,
        ),
    ]


def _case(
    rng: np.random.Generator,
    name: str,
    machine: str,
    *steps: Step,
    device: int = 0,
    measured: bool = False,
) -> HostCase:
    options = {"machine": machine, "device": device, "seed": int(rng.integers(2**31))}
    return HostCase(name, steps, options, measured=measured)


def _all(sizes: tuple[int, int, int], layout: str = "plain") -> list[Step]:
    return [(level, sizes, layout) for level in LEVELS]


def _views(sizes: tuple[int, int, int]) -> list[Step]:
    return [step for layout in ("turned", "spread", "inside") for step in _all(sizes, layout)]


def _drawn(rng: np.random.Generator) -> list[Step]:
    """Four products whose sizes are no multiples of anything."""
    sizes = [rng.integers(2, 60, size=3) for _ in range(4)]
    return [step for m, k, n in sizes for step in _all((int(m), int(k), int(n)))]


def _at(run: Any, *levels: str) -> list[dict[str, Any]]:
    """The facts of the calls at some levels."""
    pairs = zip(run.case.steps, run.facts["steps"], strict=True)
    return [facts for step, facts in pairs if step[0] in levels]


def _asked(case: Any, *levels: str) -> int:
    return sum(step[0] in levels for step in case.steps)


def _library_at_3(run: Any) -> float:
    """Operations of the library that compute, at level 3."""
    facts = _at(run, "own")
    return sum(each["name"] not in FREE for found in facts for each in found["operations"])


def _launches(run: Any) -> float:
    """Kernels that level 3 launched."""
    return sum(len(found["launches"]) for found in _at(run, "own"))


def _library(run: Any) -> float:
    """Products of the library at levels 1 and 2."""
    facts = _at(run, "simple", "configured")
    return sum(each["name"] in PRODUCTS for found in facts for each in found["operations"])


def _host_bytes(run: Any) -> float:
    """Bytes that went between host and device."""
    return sum(found["host_bytes"] for found in _at(run, *LEVELS))


def _through_host(case: Any) -> float:
    """Bytes of a and b to the host and of c back, at level 3."""
    sizes = [sizes for level, sizes, _ in case.steps if level == "own"]
    return sum(4 * (m * k + k * n + m * n) for m, k, n in sizes)


HINTS = (
    """\
Level 1 is wia.matmul(a, b). Level 2 is the same call with a config: a MatmulConfig has an algorithm
and a precision. Which precision takes products of float16 and keeps sums in float32? print(
wia.Precision.__doc__) tells.

Level 3 needs three things that the first two made for you: memory for the result, a kernel, and a
number of threads. Which device and context do they belong to? The tensors know.""",
    """\
configured: wia.MatmulAlgorithm.PIPELINE copies asynchronously, from compute capability 8.0 on;
a.context.device.info.compute_capability is a tuple, such as (7, 5).

own: wia.empty(a.context, (rows, columns)) makes the result. wia.compile_kernel(kernel) takes the
Numba function. wia.LaunchConfig(global_size=..., local_size=(16, 16)) rounds up. x comes first in
both sizes; cuda.grid(2) gives x, y.

The grid is larger than the result: which threads must write nothing?""",
    """\
@cuda.jit
def own_matmul(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and ...:
        total = float32(0)
        ...                                   # along a.shape[1]
        c[row, column] = total

    def configured(self, a, b):
        newer = a.context.device.info.compute_capability >= (8, 0)
        algorithm = wia.MatmulAlgorithm.PIPELINE if newer else ...
        config = wia.MatmulConfig(algorithm=algorithm, precision=...)
        return wia.matmul(a, b, config=config)

    def own(self, a, b):
        rows, columns = a.shape[0], b.shape[1]
        c = wia.empty(a.context, (rows, columns))
        launch = wia.LaunchConfig(global_size=(columns, ...), local_size=(16, 16))
        wia.launch_kernel(wia.compile_kernel(own_matmul), launch, a, b, c)
        return c""",
)

PUZZLE = HostPuzzle(
    number=3,
    id="three-levels",
    title="Three levels",
    teaches="each level gives more control, for more work",
    function="ThreeLevels",
    signature=LEVELS,
    cases=cases,
    play=play,
    diagnose=diagnose,
    hints=HINTS,
    gates=(
        Gate(
            name="library operations at level 3",
            measure=_library_at_3,
            naive=lambda case: _asked(case, "own"),
            at_most=lambda _: 0,
            advice="At level 3 the product is your kernel's work, from the first term to the last.",
        ),
        Gate(
            name="kernels launched at level 3",
            measure=_launches,
            naive=lambda _: 0,
            at_least=lambda case: _asked(case, "own"),
            at_most=lambda case: 2 * _asked(case, "own"),
            advice="One launch makes the whole result: a thread an element.",
        ),
        Gate(
            name="bytes between host and device",
            measure=_host_bytes,
            naive=_through_host,
            at_most=lambda _: 0,
            advice="The data lies on the device: leave it there.",
        ),
        Gate(
            name="library products at levels 1 and 2",
            measure=_library,
            naive=lambda _: 0,
            at_least=lambda case: _asked(case, "simple", "configured"),
            advice="Levels 1 and 2 are calls of wia.matmul.",
        ),
    ),
)
