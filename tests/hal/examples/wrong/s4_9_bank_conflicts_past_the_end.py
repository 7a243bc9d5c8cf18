"""MUST GET: out-of-bounds, 'shared'. §4.9: lid * 2 reaches 510 in an array of 256."""

import numpy as np

from wia_lab import cuda, simulate


@cuda.jit
def avoid_bank_conflicts(out):
    shared = cuda.shared.array(256, np.float32)
    lid = cuda.threadIdx.x
    shared[lid * 2] = lid
    out[lid] = shared[lid * 2]


def run():
    """One block of 256 threads."""
    return simulate(avoid_bank_conflicts, 1, 256, np.zeros(256, np.float32))
