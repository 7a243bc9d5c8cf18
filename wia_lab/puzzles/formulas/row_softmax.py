"""What the softmax of rows is, how far rounding may take it, and what known mistakes compute.

out[r, x] = exp(a[r, x] - max_r) / sum of exp(a[r, ·] - max_r); a block of 128 threads makes a row,
thread t its elements t, t + 128, … The references are float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.puzzle import Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 128
WARP = 32
LEAST_NORMAL = 2.0**-126

Rows = dict[str, np.ndarray]


def _powers(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each element less its row's greatest, and e to that."""
    below = a.astype(np.float64) - a.astype(np.float64).max(axis=1, keepdims=True)
    return below, np.exp(below)


def reference(a: np.ndarray) -> Rows:
    """The softmax in float64."""
    _, powers = _powers(a)
    return {"out": powers / powers.sum(axis=1, keepdims=True)}


def rounding(a: np.ndarray) -> Rows:
    """Bound on the rounding of a softmax in float32, u = 2**-24, relative to each result.

    The difference d is off by u |d|, its exp by that much relatively, and by 2 ulp of its own (CUDA
    programming guide, expf). N sums of such terms add N u and the mean of their own errors. A sum
    that is rescaled when a greater maximum comes is so once an own element of the thread, 5 times
    in shuffles and 4 times over the warps, 6 u each. Results that float32 holds as no normal number
    may be 0.
    """
    below, powers = _powers(a)
    result = powers / powers.sum(axis=1, keepdims=True)
    distance = np.abs(np.where(np.isinf(below), 0, below))
    columns = a.shape[1]
    rescaled = 6 * (-(-columns // THREADS) + 9)
    factor = distance + (result * distance).sum(axis=1, keepdims=True) + columns + rescaled + 12
    return {"out": 2.0**-24 * factor * result + LEAST_NORMAL}


# What known mistakes compute.


def _divided_by(total: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Rows]:
    """Formula that divides the row's powers by another total, in float32 as the kernel does.

    Where that total is far too small, results are far greater than the right ones, and the rounding
    allowed to those is too little for a formula in float64.
    """

    def formula(a: np.ndarray) -> Rows:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            powers = np.exp(a - a.max(axis=1, keepdims=True))
            return {"out": powers / total(powers)}

    return formula


def _threads(powers: np.ndarray) -> np.ndarray:
    """Each thread's sum of its elements, in its own order."""
    rows, columns = powers.shape
    total = np.zeros((rows, THREADS), powers.dtype)
    for first in range(0, columns, THREADS):
        part = powers[:, first : first + THREADS]
        total[:, : part.shape[1]] += part
    return total


def _of_own_elements(powers: np.ndarray) -> np.ndarray:
    return _threads(powers)[:, np.arange(powers.shape[1]) % THREADS]


def _of_first_lanes(powers: np.ndarray) -> np.ndarray:
    first, *others = _threads(powers)[:, ::WARP].T
    for other in others:
        first = first + other
    return first[:, None]


def _only(keep: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """Total of the columns for which `keep` is true."""
    return lambda powers: powers[:, keep(np.arange(powers.shape[1]))].sum(axis=1, keepdims=True)


def _by_part(part: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """Total, for each column, of the columns in the same part of the row."""

    def total(powers: np.ndarray) -> np.ndarray:
        number = part(np.arange(powers.shape[1]))
        return powers @ (number[:, None] == number[None, :])

    return total


def _warp(x: np.ndarray) -> np.ndarray:
    return x % THREADS // WARP


def _less(top: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Rows]:
    """Formula in float32 that subtracts something else than the maximum."""

    def formula(a: np.ndarray) -> Rows:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            powers = np.exp(a - top(a).astype(np.float32))
            return {"out": powers / powers.sum(axis=1, keepdims=True)}

    return formula


def _of_own_warp(a: np.ndarray) -> np.ndarray:
    """For each column, the greatest of those that its warp holds."""
    top = np.empty(a.shape)
    warps = _warp(np.arange(a.shape[1]))
    for warp in np.unique(warps):
        top[:, warps == warp] = a[:, warps == warp].max(axis=1, keepdims=True)
    return top


def _of_counted_steps(powers: np.ndarray) -> np.ndarray:
    """The total where lanes are joined in steps 0, 1, 2, 3 and 4 of `shfl_xor_sync`."""
    lanes = _threads(powers).reshape(-1, THREADS // WARP, WARP)
    for step in range(5):
        lanes = lanes + lanes[:, :, np.arange(WARP) ^ step]
    return lanes[:, :, 0].sum(axis=1, keepdims=True)


def _joined_by_thread_0(powers: np.ndarray) -> np.ndarray:
    total = _by_part(_warp)(powers)
    total[:, ::THREADS] = powers.sum(axis=1, keepdims=True)
    return total


def _sum_not_shifted(a: np.ndarray) -> Rows:
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        powers = np.exp(a - a.max(axis=1, keepdims=True))
        return {"out": powers / np.exp(a).sum(axis=1, keepdims=True)}


def _first_128(a: np.ndarray) -> Rows:
    out = np.full(a.shape, np.nan)
    out[:, :THREADS] = reference(a[:, :THREADS])["out"]
    return {"out": out}


def _whole_sweeps(a: np.ndarray, *, of: int) -> Rows:
    """The softmax of the columns that whole sweeps of the block reach; the others are not written.

    `of` is where the sums end: as far as the sweeps, or at the row's end.
    """
    out = np.full(a.shape, np.nan)
    reached = a.shape[1] // THREADS * THREADS
    if reached:
        out[:, :reached] = reference(a[:, : max(of, reached)])["out"][:, :reached]
    return {"out": out}


def _nan_where_masked(a: np.ndarray) -> Rows:
    out = reference(a)["out"]
    out[np.isinf(a).any(axis=1)] = np.nan
    return {"out": out}


SUSPECTS = (
    Suspect(
        "maximum-not-subtracted",
        "the row's maximum is not subtracted: exp of 89 is more than float32 can hold, exp of "
        "-104 less, so a row of such numbers has inf or 0 below the line.",
        _less(lambda a: np.zeros((a.shape[0], 1))),
    ),
    Suspect(
        "maximum-from-zero",
        "the maximum starts at 0, so it is 0 for a row of negative numbers: start at -math.inf, or "
        "at an element of the row.",
        _less(lambda a: np.maximum(a.max(axis=1, keepdims=True), 0)),
    ),
    Suspect(
        "not-divided",
        "the powers are not divided by their sum.",
        _divided_by(lambda powers: np.ones((powers.shape[0], 1))),
    ),
    Suspect(
        "sum-of-own-elements",
        "each thread divides by the sum of its own elements: the 32 sums of a warp are joined by "
        "shuffles, and those of four warps through shared memory.",
        _divided_by(_of_own_elements),
    ),
    Suspect(
        "sum-of-own-warp",
        "each warp divides by the sum of its own 32 lanes: a shuffle stays inside a warp, so the "
        "four sums must be joined through shared memory.",
        _divided_by(_by_part(_warp)),
    ),
    Suspect(
        "first-warp-only",
        "the sum is that of the first warp: add up all four cells.",
        _divided_by(_only(lambda x: _warp(x) == 0)),
    ),
    Suspect(
        "last-step-missing",
        "the shuffles stop one step too early, so half of the lanes are left out of the sum: steps "
        "of 16, 8, 4, 2 and 1.",
        _divided_by(_only(lambda x: x % 2 == 0)),
    ),
    Suspect(
        "first-step-missing",
        "the shuffles begin at a step of 8, so half of the warp is left out of the sum: steps of "
        "16, 8, 4, 2 and 1.",
        _divided_by(_only(lambda x: x % WARP < WARP // 2)),
    ),
    Suspect(
        "lane-0-only",
        "only the elements of lane 0 of each warp are summed: the lanes' sums are joined by "
        "shuffles before lane 0 stores them.",
        _divided_by(_of_first_lanes),
    ),
    Suspect(
        "sum-twice",
        "the sum is twice too large: each lane's part is to be added once.",
        _divided_by(lambda powers: 2 * powers.sum(axis=1, keepdims=True)),
    ),
    Suspect(
        "maximum-of-own-warp",
        "each warp subtracts its own maximum: all threads of a row must subtract the same number, "
        "so the four warps' maxima are joined through shared memory.",
        _less(_of_own_warp),
    ),
    Suspect(
        "sum-not-shifted",
        "the sum is of exp(a), and the numerator exp(a - maximum): subtract the maximum in both.",
        _sum_not_shifted,
    ),
    Suspect(
        "steps-counted",
        "the shuffles' steps are 0, 1, 2, 3, 4: each step names the bit in which lanes differ, so "
        "they are 16, 8, 4, 2 and 1.",
        _divided_by(_of_counted_steps),
    ),
    Suspect(
        "total-of-thread-0",
        "only thread 0 has the sum of all four warps, the others that of their own: every thread "
        "needs it, so all add up the four cells.",
        _divided_by(_joined_by_thread_0),
    ),
    Suspect(
        "sum-of-128",
        "the sum is that of the row's first 128 elements: thread t also takes t + 128, t + 256, …",
        _divided_by(_only(lambda x: x < THREADS)),
    ),
    *(
        Suspect(
            "whole-sweeps-only",
            "only whole sweeps of 128 elements are made, as for a number of rounds that is rounded "
            "down: thread t takes t, t + 128, … for as long as they are below a.shape[1].",
            formula,
        )
        for formula in (
            lambda a: _whole_sweeps(a, of=0),
            lambda a: _whole_sweeps(a, of=a.shape[1]),
        )
    ),
    Suspect(
        "first-128-only",
        "only the first 128 elements of a row are used: thread t takes t, t + 128, t + 256, …",
        _first_128,
    ),
    Suspect(
        "whole-array",
        "the sum is over the whole array: each row has its own.",
        _divided_by(lambda powers: np.full((1, 1), powers.sum())),
    ),
    Suspect(
        "by-columns",
        "each column adds up to 1: it is each row that must.",
        lambda a: {"out": reference(a.T)["out"].T},
    ),
    Suspect(
        "nan-from-minus-inf",
        "a row with an element of -inf became nan: -inf less -inf is no number, so do not subtract "
        "a maximum that is still -inf. exp(-inf) alone is 0.",
        _nan_where_masked,
    ),
)
