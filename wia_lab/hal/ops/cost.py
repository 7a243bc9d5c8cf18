"""How long an operation keeps a virtual device busy: a roofline, with measured shares of its peaks.

It orders algorithms and fills timelines; nothing is graded by it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from wia_lab.hal.ops.operation import Operation
    from wia_lab.machines import Device

LAUNCH = 5e-6
"""Seconds from one launch to the next when a stream is kept full: an order of magnitude."""

COPY_SHARE = 0.87
"""Of the memory's peak, what a copy reaches: 4,180 of 4,800 GB/s, H200."""


def seconds(sheet: Device, operation: Operation) -> float:
    """Launch, and the longer of moving the bytes and doing the arithmetic.

    Types of 16 bits are reckoned at float32's rate: the sheets have no figure for tensor cores.
    """
    rate = sheet.float64_rate if operation.accumulate == np.float64 else sheet.float32_rate
    moving = operation.nbytes / (COPY_SHARE * sheet.memory_bandwidth)
    blocks = operation.blocks
    if blocks is None:
        return LAUNCH + max(moving, operation.work / rate)
    rounds = math.ceil(blocks.count / sheet.multiprocessors)
    return LAUNCH + max(
        moving, rounds * blocks.work * sheet.multiprocessors / (blocks.share * rate)
    )
