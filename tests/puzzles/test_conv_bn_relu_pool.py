"""Puzzle 12: its reference against sums one by one, its figures against kernels and by hand."""

from __future__ import annotations

import math

import numpy as np

from wia_lab import simulate
from wia_lab.puzzles import PUZZLES, conv_bn_relu_pool
from wia_lab.puzzles.mutants import ROOT, load_answer

PUZZLE = PUZZLES["conv-bn-relu-pool"]


def cases():
    """The inputs of a check."""
    return PUZZLE.cases(np.random.default_rng(28))


def one_by_one(image, weights, scale, shift):
    """The four steps in plain Python, each sum rounded once."""
    height, width = image.shape

    def normed(f, i, j):
        products = [
            float(image[i + u - 1, j + v - 1]) * float(weights[f, u, v])
            for u in range(3)
            for v in range(3)
            if 0 <= i + u - 1 < height and 0 <= j + v - 1 < width
        ]
        return math.fsum(products) * float(scale[f]) + float(shift[f])

    return [
        [
            [
                max(0.0, *(normed(f, 2 * i + p, 2 * j + q) for p in (0, 1) for q in (0, 1)))
                for j in range(width // 2)
            ]
            for i in range(height // 2)
        ]
        for f in range(len(weights))
    ]


def test_reference_is_the_four_steps():
    """On odd sides, and with a negative scale."""
    case = cases()[1]
    assert case.arguments["scale"].min() < 0
    got = PUZZLE.reference(**case.inputs)["out"]
    np.testing.assert_allclose(got, one_by_one(**case.inputs), rtol=1e-12, atol=1e-14)


def test_bound_holds_in_float32():
    """Sums in float32, forward and backward, lie within the rounding allowed."""
    for case in cases():
        image, weights, scale, shift = case.inputs.values()
        padded = np.pad(image, 1)
        want, allowed = (f(**case.inputs)["out"] for f in (PUZZLE.reference, PUZZLE.rounding))
        for order in (range(9), reversed(range(9))):
            total = np.zeros((len(weights), *image.shape), np.float32)
            for k in order:
                part = padded[k // 3 : k // 3 + image.shape[0], k % 3 : k % 3 + image.shape[1]]
                total += weights[:, k // 3, k % 3, None, None] * part
            normed = np.maximum(total * scale[:, None, None] + shift[:, None, None], 0)
            below, across = want.shape[1:]
            cut = normed[:, : 2 * below, : 2 * across]
            got = cut.reshape(-1, below, 2, across, 2).max(axis=(2, 4))
            assert (np.abs(got - want) <= allowed).all()


def test_figures():
    """Naive is the kernel without a tile; 3 × 2 blocks of 34 × 34 pixels, the rim outside."""
    case = cases()[0]
    kernel = load_answer(ROOT / "tests" / "mutants" / PUZZLE.id / "no_tile.py", PUZZLE.function)
    arrays = [array.copy() for array in case.arguments.values()]
    report = simulate(kernel, case.grid, case.block, *arrays)
    [image] = [each for each in report.arrays if each.name == "image"]
    assert image.counters.global_load_bytes == conv_bn_relu_pool.naive_loads(case)
    assert conv_bn_relu_pool.tile_loads(case) == 4 * (2 * 34 - 2) * (3 * 34 - 2)
