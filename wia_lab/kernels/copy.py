"""Copies of n float32, 8 n bytes moved: strided, coalesced, and with more bytes in flight."""

from __future__ import annotations

import numpy as np

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, flat, uniform, unwritten

BLOCK = 256  # threads
LOADS = 4  # independent loads a thread
SPAN = BLOCK * LOADS
WIDE = 4  # floats in 16 bytes
STRIDE = 32  # elements between neighbouring lanes of the strided copy


@cuda.jit
def copy_strided(out, a):
    """Copy with neighbouring lanes 32 elements apart: every lane asks for a sector of its own.

    Each block of 1,024 threads moves 1,024 consecutive elements, lane by lane down columns, so the
    same bytes move; 32 sectors a request, where 4 hold its data. Bound by sectors.
    Launch: ⌈n / 1024⌉ blocks of 1,024.
    """
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 1024 + (t % STRIDE) * STRIDE + t // STRIDE
    if i < out.size:
        out[i] = a[i]


@cuda.jit
def copy(out, a):
    """Copy one element a thread, coalesced: 4 sectors a request.

    Bound by bytes in flight, 4 a thread. Launch: ⌈n / 256⌉ blocks of 256.
    """
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


@cuda.jit
def copy_independent(out, a):
    """Each thread loads four elements before it stores the first: four times the bytes in flight.

    Bound by memory bandwidth. Launch: ⌈n / 1024⌉ blocks of 256.
    """
    i = cuda.blockIdx.x * SPAN + cuda.threadIdx.x
    if (cuda.blockIdx.x + 1) * SPAN <= out.size:
        w = a[i]
        x = a[i + BLOCK]
        y = a[i + 2 * BLOCK]
        z = a[i + 3 * BLOCK]
        out[i] = w
        out[i + BLOCK] = x
        out[i + 2 * BLOCK] = y
        out[i + 3 * BLOCK] = z
    else:
        for j in range(i, out.size, BLOCK):
            out[j] = a[j]


@cuda.jit
def copy_wide(out, a):
    """Copy 16-byte elements, one a thread: the arrays viewed as complex128.

    Each is two loads of 8 bytes, 16 bytes apart from lane to lane, as the compiler cannot know the
    alignment: half the requests, each for 16 sectors. The bytes in flight are what counts. The at
    most three floats left over are `copy`'s. Bound by memory bandwidth.
    Launch: ⌈n / 1024⌉ blocks of 256.
    """
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


def _strided(out, a):
    return [Launch(copy_strided, ceil_div(out.size, 1024), 1024, (out, a))]


def _wide(out, a):
    whole = out.size // WIDE * WIDE
    wide = (out[:whole].view(np.complex128), a[:whole].view(np.complex128))
    launches = [Launch(copy_wide, ceil_div(whole, WIDE * BLOCK), BLOCK, wide)]
    if whole < out.size:
        launches.append(Launch(copy, 1, BLOCK, (out[whole:], a[whole:])))
    return launches


COPY = Topic(
    name="copy",
    steps=(
        Step("strided lanes", _strided),
        Step("one element a thread", flat(copy)),
        Step("independent loads", flat(copy_independent, LOADS)),
        Step("16-byte elements", _wide),
    ),
    arguments=lambda rng, n: (unwritten(n), uniform(rng, n)),
    reference=lambda out, a: a.astype(np.float64),  # noqa: ARG005 - of all arguments
    sizes=((1009,), (4096,), (5003,)),
)
