"""MUST GET: out-of-bounds, 'data'. §4.9: takes N, and does not look at it."""

import numpy as np

from wia_lab import cuda, simulate


@cuda.jit
def coalesced_access(out, data, n):
    gid = cuda.grid(1)
    out[gid] = data[gid]


def run():
    """1,000 elements in blocks of 256."""
    return simulate(
        coalesced_access, 4, 256, np.zeros(1024, np.float32), np.ones(1000, np.float32), 1000
    )
