"""xoroshiro128+ in kernels, against the generator as its authors define it.

Source: D. Blackman and S. Vigna, xoroshiro128plus.c (2018 constants 24, 16, 37 and the 2016 ones
55, 14, 36, which Numba uses), seeded by SplitMix64.
"""

from __future__ import annotations

import numpy as np
from numba.cuda.random import xoroshiro128p_next, xoroshiro128p_uniform_float64

from wia_lab import cuda
from wia_lab.cuda.random import create_xoroshiro128p_states, init_xoroshiro128p_states

MASK = (1 << 64) - 1
SEED = 20261129


def first_numbers(count):
    """The generator of thread 0, in Python's integers."""
    z = (SEED + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    s0 = s1 = z ^ (z >> 31)
    numbers = []
    for _ in range(count):
        numbers.append((s0 + s1) & MASK)
        s1 ^= s0
        s0 = _rotated(s0, 55) ^ s1 ^ ((s1 << 14) & MASK)
        s1 = _rotated(s1, 36)
    return numbers


def _rotated(x, k):
    return ((x << k) | (x >> (64 - k))) & MASK


@cuda.jit
def draw(out, states):
    """Two rows of numbers a thread."""
    i = cuda.grid(1)
    for k in range(out.shape[0]):
        out[k, i] = xoroshiro128p_next(states, i)


@cuda.jit
def uniform(out, states):
    """One number a thread."""
    out[cuda.grid(1)] = xoroshiro128p_uniform_float64(states, cuda.grid(1))


class TestStates:
    """Made on the host, used by kernels."""

    def test_first_thread(self):
        out = np.zeros((5, 2), np.uint64)
        draw[1, 2](out, create_xoroshiro128p_states(2, SEED))
        assert [int(x) for x in out[:, 0]] == first_numbers(5)
        assert set(map(int, out[:, 1])).isdisjoint(first_numbers(5))

    def test_again(self):
        """The states move on; setting them again starts over."""
        states = create_xoroshiro128p_states(64, SEED)
        first, second, again = (np.zeros(64) for _ in range(3))
        uniform[2, 32](first, states)
        uniform[2, 32](second, states)
        init_xoroshiro128p_states(states, SEED)
        uniform[2, 32](again, states)
        assert again.tolist() == first.tolist()
        assert not set(first) & set(second)
        assert ((first >= 0) & (first < 1)).all()
