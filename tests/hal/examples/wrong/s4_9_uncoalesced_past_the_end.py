"""MUST GET: out-of-bounds, 'data'. §4.9: no bounds, so that gid * stride runs off the array."""

import numpy as np

from wia_lab import cuda, simulate


@cuda.jit
def uncoalesced_access(out, data, stride):
    gid = cuda.grid(1)
    out[gid] = data[gid * stride]


def run():
    """256 threads, stride 4, 256 elements."""
    return simulate(
        uncoalesced_access, 1, 256, np.zeros(256, np.float32), np.ones(256, np.float32), 4
    )
