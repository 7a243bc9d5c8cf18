"""What convolution, batch norm, ReLU and pooling in one are, and what known mistakes compute.

Shapes: image (H, W), weights (F, 3, 3), scale and shift (F,), out (F, H // 2, W // 2). For each
filter f: the 3 × 3 sums over the image with zeros around, times scale[f], plus shift[f], negative
ones set to 0, and of each 2 × 2 the greatest. The references are float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wia_lab.puzzles.puzzle import Suspect

SIDE = 16  # pooled outputs of a block, each way
REACH = 2 * SIDE + 2  # pixels that they need, each way

Result = dict[str, np.ndarray]
Window = Callable[[np.ndarray], np.ndarray]


def _sums(padded: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The 3 × 3 sums of an image that has a border of 1 already: (F, H, W)."""
    height, width = padded.shape[0] - 2, padded.shape[1] - 2
    total = np.zeros((weights.shape[0], height, width))
    for u in range(3):
        for v in range(3):
            part = padded[u : u + height, v : v + width]
            total += weights[:, u, v, None, None] * part
    return total


def _bordered(image: np.ndarray) -> np.ndarray:
    return np.pad(image.astype(np.float64), 1)


def _each(of_filter: np.ndarray) -> np.ndarray:
    """One number a filter, against (F, H, W)."""
    return of_filter.astype(np.float64)[:, None, None]


def _quads(full: np.ndarray) -> np.ndarray:
    """The 2 × 2 of each pooled output, last: (F, H // 2, W // 2, 4); what is left over is gone."""
    count, height, width = full.shape
    even = full[:, : height // 2 * 2, : width // 2 * 2]
    quads = even.reshape(count, height // 2, 2, width // 2, 2)
    return quads.transpose(0, 1, 3, 2, 4).reshape(count, height // 2, width // 2, 4)


def _relu(full: np.ndarray) -> np.ndarray:
    return np.maximum(full, 0)


def reference(
    image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> Result:
    """Convolution, then scale and shift, then ReLU, then the greatest of each 2 × 2."""
    normed = _sums(_bordered(image), weights) * _each(scale) + _each(shift)
    return {"out": _quads(_relu(normed)).max(axis=-1)}


def rounding(
    image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> Result:
    """Bound on the rounding in float32, in whatever order of sums.

    9 products and sums: 10 · 2**-24 · sum of |products|; one product and one sum more, and scaled.
    ReLU and max pass on no more than the largest difference of what they are given.
    """
    magnitude = _sums(np.abs(_bordered(image)), np.abs(weights)) * np.abs(_each(scale))
    allowed = 2.0**-24 * (12 * magnitude + np.abs(_each(shift)))
    return {"out": _quads(allowed).max(axis=-1)}


def _variant(
    *,
    border: Window = _bordered,
    turn: Window = lambda weights: weights,
    after: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] | None = None,
    pool: Window = lambda quads: quads.max(axis=-1),
) -> Callable[..., Result]:
    """Formula with one stage replaced: the image's border, the weights, norm and ReLU, or pool."""
    last = after or (lambda sums, scale, shift: _relu(sums * scale + shift))

    def formula(
        image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
    ) -> Result:
        sums = _sums(border(image), turn(weights))
        return {"out": pool(last(_quads(sums), _each(scale)[..., None], _each(shift)[..., None]))}

    return formula


def _pooled_first(
    image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> Result:
    pooled = _quads(_sums(_bordered(image), weights)).max(axis=-1)
    return {"out": _relu(pooled * _each(scale) + _each(shift))}


def _moved(image: np.ndarray) -> np.ndarray:
    """Windows begin at their pixel instead of one before it."""
    return np.pad(image.astype(np.float64), ((0, 2), (0, 2)))


def _cut_at_tiles(
    image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> Result:
    """Each 32 × 32 part of the image convolved by itself, zeros around it."""
    full = np.zeros((weights.shape[0], *image.shape))
    side = 2 * SIDE
    for y in range(0, image.shape[0], side):
        for x in range(0, image.shape[1], side):
            part = image[y : y + side, x : x + side]
            full[:, y : y + side, x : x + side] = _sums(_bordered(part), weights)
    return {"out": _quads(_relu(full * _each(scale) + _each(shift))).max(axis=-1)}


def _first_filter_only(
    image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> Result:
    found = reference(image, weights, scale, shift)["out"]
    found[1:] = np.nan
    return {"out": found}


def _filter_0_again(
    image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> Result:
    same = np.broadcast_to(weights[:1], weights.shape)
    return {"out": reference(image, same, scale, shift)["out"]}


def _windows_one_apart(
    image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> Result:
    """Thread (x, y) of a block takes the 2 × 2 at (y, x) of its tile instead of (2 y, 2 x)."""
    normed = _relu(_sums(_bordered(image), weights) * _each(scale) + _each(shift))
    rows, columns = (
        np.arange(length // 2) // SIDE * SIDE + np.arange(length // 2) for length in image.shape
    )
    four = [normed[:, rows + p][:, :, columns + q] for p in range(2) for q in range(2)]
    return {"out": np.max(four, axis=0)}


def _odd_edge_dropped(
    image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> Result:
    cut = image.copy()
    cut[image.shape[0] // 2 * 2 :] = 0
    cut[:, image.shape[1] // 2 * 2 :] = 0
    return reference(cut, weights, scale, shift)


def _best_of_all_filters(
    image: np.ndarray, weights: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> Result:
    return {"out": np.maximum.accumulate(reference(image, weights, scale, shift)["out"], axis=0)}


SUSPECTS = (
    Suspect(
        "weights-turned",
        "the weights are turned round: weights[f, u, v] belongs to the pixel u - 1 rows down and "
        "v - 1 columns to the right.",
        _variant(turn=lambda weights: weights[:, ::-1, ::-1]),
    ),
    Suspect(
        "weights-transposed",
        "rows and columns of the weights are swapped: u counts rows, v columns.",
        _variant(turn=lambda weights: weights.transpose(0, 2, 1)),
    ),
    Suspect(
        "relu-before-norm",
        "ReLU comes before scale and shift: first scale and shift, then set negative values to 0.",
        _variant(after=lambda sums, scale, shift: _relu(sums) * scale + shift),
    ),
    Suspect(
        "pool-before-norm",
        "the greatest of the four is chosen before scale and shift: where scale is negative, "
        "that chooses the least.",
        _pooled_first,
    ),
    Suspect(
        "pool-and-relu-before-norm",
        "ReLU and the greatest of the four come before scale and shift: first scale and shift each "
        "of the four sums, then set negative values to 0 and take the greatest.",
        _variant(
            after=lambda sums, scale, shift: _relu(sums.max(axis=-1, keepdims=True)) * scale + shift
        ),
    ),
    Suspect(
        "no-relu",
        "negative values are left: ReLU sets them to 0.",
        _variant(after=lambda sums, scale, shift: sums * scale + shift),
    ),
    Suspect(
        "no-norm",
        "scale and shift are not used: multiply each sum by scale[f] and add shift[f].",
        _variant(after=lambda sums, _scale, _shift: _relu(sums)),
    ),
    Suspect(
        "no-shift",
        "shift is not added.",
        _variant(after=lambda sums, scale, _shift: _relu(sums * scale)),
    ),
    Suspect(
        "shift-then-scale",
        "shift is added before scale multiplies: scale first.",
        _variant(after=lambda sums, scale, shift: _relu((sums + shift) * scale)),
    ),
    Suspect(
        "mean-of-four",
        "each 2 × 2 gives its mean: it should give its greatest value.",
        _variant(pool=lambda quads: quads.mean(axis=-1)),
    ),
    Suspect(
        "first-of-four",
        "each output is the upper left of its 2 × 2: all four are to be computed, and the greatest "
        "is kept.",
        _variant(pool=lambda quads: quads[..., 0]),
    ),
    Suspect(
        "last-of-four",
        "each output is the lower right of its 2 × 2: keep the greatest, and not the last.",
        _variant(pool=lambda quads: quads[..., 3]),
    ),
    Suspect(
        "window-moved",
        "the 3 × 3 windows begin at their pixel: they begin one row above and one column to the "
        "left of it.",
        _variant(border=_moved),
    ),
    Suspect(
        "edge-repeated",
        "beyond the image its edge is repeated: there it counts as 0.",
        _variant(border=lambda image: np.pad(image.astype(np.float64), 1, mode="edge")),
    ),
    Suspect(
        "cut-at-tiles",
        "the pixels around each tile are missing, 0 in their place: a block needs a halo of one "
        "pixel on each side, which is another block's tile.",
        _cut_at_tiles,
    ),
    Suspect(
        "first-filter-only",
        "only the first filter's output is written: do the same for each f of weights.shape[0].",
        _first_filter_only,
    ),
    Suspect(
        "filter-0-again",
        "every output uses the weights of filter 0: weights[f, u, v].",
        _filter_0_again,
    ),
    Suspect(
        "windows-one-apart",
        "neighbouring threads take windows one pixel apart: an output has 2 × 2 pixels of its own, "
        "so those of thread (x, y) begin at row 2 * y and column 2 * x of the tile.",
        _windows_one_apart,
    ),
    Suspect(
        "odd-edge-dropped",
        "the last row or column of an odd image counts as 0: it is in no 2 × 2, but windows reach "
        "it, so what lies inside goes by image.shape.",
        _odd_edge_dropped,
    ),
    Suspect(
        "best-of-all-filters",
        "the greatest of one filter goes on into the next: each filter starts anew, at 0.",
        _best_of_all_filters,
    ),
)
