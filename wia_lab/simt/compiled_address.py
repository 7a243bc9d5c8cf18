"""Addresses, one array dimension at a time: the source of `wia_lab.simt.compiled.locate`."""

from __future__ import annotations

import numpy as np

_at = np.uint64  # an unsigned index: no test for a negative one, so that loops vectorise

OUT_OF_BOUNDS = 1
"""Flag: an active lane's index left the extent, even after wrapping."""

NEGATIVE = 2
"""Flag: an active lane's index was negative, and was wrapped once by the extent."""

INDEX_TYPES = ("int32", "int64", "uint32", "uint64")
SIGNATURES = {
    "locate": tuple(
        f"int64(int64[::1], readonly int64[:], readonly {index}[:], int64, int64, "
        "readonly boolean[::1], int64)"
        for index in INDEX_TYPES
    )
}


def locate(
    out: np.ndarray,
    start: np.ndarray,
    index: np.ndarray,
    extent: int,
    stride: int,
    active: np.ndarray,
    fallback: int,
) -> int:
    """Set `out` to `start + index * stride` in every active lane; return flags.

    A negative index of a signed type is wrapped once by the extent, as Numba wraps it. Inactive
    lanes get `fallback`, a byte inside the storage. Lanes out of bounds get the offset that the
    index spells: where OUT_OF_BOUNDS is returned, take them out before the memory is touched.

    Parameters
    ----------
    out : int64, one a lane, contiguous
        Byte offsets. May be `start` itself, to add one dimension after another.
    start : int64, one a lane or one for all
        Offsets before this dimension.
    index : int32, int64, uint32 or uint64, one a lane or one for all
    extent, stride : int
        Elements and bytes of this dimension.
    active : bool, one a lane, contiguous
    fallback : int
        What inactive lanes get, in bytes.

    Returns
    -------
    int
        OUT_OF_BOUNDS and NEGATIVE, or-ed; they speak of active lanes only.
    """
    outside = negative = False
    start_step = 0 if start.size == 1 else 1
    index_step = 0 if index.size == 1 else 1
    for lane in range(out.size):
        if active[_at(lane)]:
            position = index[_at(lane * index_step)]
            wrapped = position + extent if position < 0 else position
            outside |= wrapped < 0 or wrapped >= extent
            negative |= position < 0
            out[_at(lane)] = start[_at(lane * start_step)] + wrapped * stride
        else:
            out[_at(lane)] = fallback
    return outside * OUT_OF_BOUNDS + negative * NEGATIVE
