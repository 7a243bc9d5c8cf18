"""Loads of aligned elements: the source of `wia_lab.simt.compiled.gather`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
SIGNATURES = {
    "gather": tuple(
        f"void({kind}[::1], readonly {kind}[::1], readonly int64[::1], int64, int64)"
        for kind in UNSIGNED
    )
}


def gather(out: np.ndarray, data: np.ndarray, offsets: np.ndarray, shift: int, last: int) -> None:
    """Set `out` to the elements of `data` at byte `offsets`, each `1 << shift` bytes wide.

    Element numbers are held to 0 … `last`: the offsets of inactive lanes mean nothing.
    """
    for lane in range(out.size):
        element = offsets[lane] >> shift
        element = max(0, element)
        out[lane] = data[min(last, element)]
