"""What the sources claim of memory and kernels, beside what was measured on an H200.

The claims are the sources', in our words. Every measured figure is read or computed from the
recorded tables when it is printed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection
from dataclasses import dataclass

from wia_lab.kernels import evidence, levels
from wia_lab.kernels.figures import FILES, date

ABOUT = (
    "The sources' claims and, below each, what was measured. 000 is WIA-AI-011's chapter on "
    "memory, 001 that on hardware abstraction, 003 Puzzle 28 of the Mojo GPU puzzles. 1.5 times is "
    "1.5 times as fast."
)
WIDTH = 100
INDENT = "    "


@dataclass(frozen=True, slots=True)
class Claim:
    """What a source says, and how to say what was measured.

    Attributes
    ----------
    section : str
        Document and section.
    says : str
        The claim.
    measured : callable
        Gives the measured figures as text.
    topics : tuple of str
        Topics of `wia-lab bench kernels` that it is about.
    """

    section: str
    says: str
    measured: Callable[[], str]
    topics: tuple[str, ...] = ()


CLAIMS = (
    Claim("000 §4.1", "tiles in shared memory make a product fast", evidence.tiles, ("matmul",)),
    Claim("000 §4.2.2", "a slab allocates and frees in O(1)", evidence.nothing),
    Claim("000 §4.3", "hints and prefetching make unified memory faster", evidence.hints),
    Claim("000 §4.4", "pinned copies are 3-5 times as fast as pageable ones", evidence.pinned),
    Claim("000 §4.5", "a pool allocates again in O(1)", evidence.constant_time),
    Claim("000 §4.8", "peer to peer 50-100 GB/s by NVLink, 10-15 by PCIe", evidence.peers),
    Claim("000 §4.8", "a kernel computes on a peer's memory in place, uncopied", evidence.in_place),
    Claim(
        "000 §4.9", "coalesced access can be 32-128 times as fast", evidence.coalescing, ("copy",)
    ),
    Claim("000 §4.9", "shared memory at a step of two uses half of the banks", evidence.banks),
    Claim("000 §4.9", "padding avoids bank conflicts", evidence.padding, ("transpose",)),
    Claim("000 §4.9", "double buffering hides the wait", evidence.buffers, ("matmul",)),
    Claim(
        "001 §3.1",
        "blocks of 16 × 16 and 48 KB are full control",
        evidence.full_control,
        ("matmul",),
    ),
    Claim(
        "001 §3.4", "batches in turn on three streams bring the most throughput", evidence.batches
    ),
    Claim("001 §3.5.1", "device memory has the highest bandwidth", evidence.kinds, ("hierarchy",)),
    Claim("001 §3.5.2", "a pool is 100 times as fast as malloc", evidence.pool),
    Claim(
        "001 §3.6.1",
        "product and convolution choose the best way by themselves, cuDNN's for one",
        evidence.choice,
        ("matmul", "convolution-2d"),
    ),
    Claim(
        "001 §3.6.1",
        "a network's block is a call an operation: convolution, ReLU, norm, pooling",
        evidence.fused,
        ("conv-norm-relu-pool", "axpy"),
    ),
    Claim(
        "001 §3.6.2", "256 threads a block, each adds a pair", evidence.vector_add, ("vector-add",)
    ),
    Claim("001 §3.6.2", "a launch does not hold the host", evidence.launch),
    Claim(
        "003, introduction",
        "a load from DRAM takes 500 cycles, the taps 100",
        evidence.wait,
        ("hierarchy",),
    ),
    Claim(
        "003, introduction",
        "asynchronous copies bring 650 cycles to 550, 45 % better",
        evidence.asynchronous,
        ("convolution",),
    ),
    Claim("003, introduction", "without overlap 7.7 % of the time computes", evidence.busy),
    Claim(
        "003, performance effect",
        "overlapping hides latency and keeps the arithmetic units busy",
        evidence.pipeline,
        ("convolution", "matmul"),
    ),
    Claim("003, halo regions", "little more memory, much gained", evidence.halo, ("convolution",)),
    Claim(
        "003, opportunity", "time is the longer transfer's, not the sum of both", evidence.nothing
    ),
    Claim(
        "003, hardware compatibility",
        "basic asynchronous copies begin with SM_70",
        evidence.nothing,
    ),
)


def render(topics: Collection[str] = ()) -> str:
    """The hierarchy and the claims as text; of `topics` only, where any are named.

    Empty where nothing is about those.
    """
    parts = [levels.render()] if not topics or "hierarchy" in topics else []
    shown = [each for each in CLAIMS if not topics or set(topics) & set(each.topics)]
    if shown:
        parts.append("\n".join((textwrap.fill(ABOUT, WIDTH), *map(_entry, shown))))
    if parts:
        dated = ", ".join(f"{name} ({date(name)})" for name in FILES)
        parts.append(textwrap.fill(f"Figures from wia_lab/data: {dated}.", WIDTH))
    return "\n\n".join(parts)


def _entry(claim: Claim) -> str:
    measured = textwrap.fill(
        claim.measured(), WIDTH, initial_indent=INDENT, subsequent_indent=INDENT
    )
    return f"{claim.section}: {claim.says}\n{measured}"
