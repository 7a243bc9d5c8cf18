"""Convolution (§3.6.1): conv2d, its configuration, and how it chooses an algorithm."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from wia_lab.hal.checks import is_whole
from wia_lab.hal.errors import InvalidValue
from wia_lab.hal.ops.choice import Precision, check_member, choose, leave_vendor, types_of
from wia_lab.hal.ops.operation import Blocks, Operation
from wia_lab.hal.ops.work import check_tensors, enqueue, planned
from wia_lab.hal.tensor import chosen_stream

if TYPE_CHECKING:
    from wia_lab.hal.stream import Stream
    from wia_lab.hal.tensor import Tensor

Pair = tuple[int, int]

TILE_Y, TILE_X = 8, 32  # pixels of a block; these and the next as in `wia_lab.kernels`
OUTPUTS, INPUTS = 64, 8  # channels of a block of the implicit product
DIRECT_SHARE, PRODUCT_SHARE, VENDOR_SHARE = 2.17 / 67, 19.5 / 67, 41.6 / 67
"""Of the float32 peak: H200, 32 × 64 × 64 × 224 × 224 (data/benchmarks_kernels_h200.csv)."""


class ConvAlgorithm(Enum):
    """Ways to a convolution: kernels of `wia_lab.kernels.convolution2d`, and the vendor's library.

    DIRECT: each thread makes one output, one channel and tap after the other. IMPLICIT_PRODUCT: a
    matrix product of the weights with the taps, which are gathered in shared memory. VENDOR is
    cuDNN, by PyTorch where that is installed, on real devices alone.
    """

    AUTO = "auto"
    DIRECT = "direct"
    IMPLICIT_PRODUCT = "implicit-product"
    VENDOR = "vendor"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvConfig:
    """How a convolution is made; one number for both directions, or (down, across).

    Attributes
    ----------
    padding : int or pair
        Rows and columns of zeros on each side.
    stride, dilation : int or pair
        Pixels from one output to the next, and from one tap to the next.
    groups : int
        Into how many equal parts the channels are divided; outputs see their own part alone.
    algorithm, precision
        Level 2: which way, and which types.
    """

    padding: int | Pair = 0
    stride: int | Pair = 1
    dilation: int | Pair = 1
    groups: int = 1
    algorithm: ConvAlgorithm = ConvAlgorithm.AUTO
    precision: Precision = Precision.FULL

    def __post_init__(self) -> None:
        pair("ConvConfig", "padding", self.padding, least=0)
        pair("ConvConfig", "stride", self.stride, least=1)
        pair("ConvConfig", "dilation", self.dilation, least=1)
        if not is_whole(self.groups) or self.groups < 1:
            raise InvalidValue(f"ConvConfig: groups is {self.groups!r}: give a number from 1")
        check_member("ConvConfig", "algorithm", self.algorithm, ConvAlgorithm)
        check_member("ConvConfig", "precision", self.precision, Precision)


def conv2d(
    x: Tensor, weight: Tensor, *, config: ConvConfig | None = None, stream: Stream | None = None
) -> Tensor:
    """Slide `weight` over images: (n, c, h, w) with (k, c / groups, r, s) gives (n, k, h', w').

    It is the sum of products that neural networks call a convolution: the weights are not turned
    round. Outside, x is zero, and a zero takes part in the sum: with an infinite weight it is NaN.

    Raises
    ------
    InvalidValue
        Shapes, groups or types that do not fit.
    """
    check_tensors("conv2d", x=x, weight=weight)
    settings = ConvConfig() if config is None else config
    if not isinstance(settings, ConvConfig):
        raise InvalidValue(f"conv2d: config is {config!r}: give a ConvConfig")
    for label, each in (("x", x), ("weight", weight)):
        if each.ndim != 4:
            raise InvalidValue(
                f"conv2d: {label} has shape {each.shape}: x has four axes, (images, channels, "
                "height, width), weight (outputs, channels / groups, height, width)"
            )
    _check_channels(x.shape[1], weight.shape, settings.groups)
    padding = pair("conv2d", "padding", settings.padding, least=0)
    stride = pair("conv2d", "stride", settings.stride, least=1)
    dilation = pair("conv2d", "dilation", settings.dilation, least=1)
    pixels = windows("conv2d", x.shape, weight.shape[2:], padding, stride, dilation)
    shape = (x.shape[0], weight.shape[0], *pixels)
    inputs, sums = types_of("conv2d", x.dtype, settings.precision)
    operation = planned(
        "conv2d",
        [x, weight],
        shape,
        x.dtype,
        accumulate=sums,
        work=2.0 * math.prod(shape) * math.prod(weight.shape[1:]),
        products=inputs,
        padding=padding,
        stride=stride,
        dilation=dilation,
        groups=settings.groups,
    )
    chosen = chosen_stream(stream, x.context)
    ways = _ways(operation, weight.shape, settings.groups)
    refused: dict[ConvAlgorithm, str] = {}
    leave_vendor(ConvAlgorithm.VENDOR, ways, refused, settings.algorithm, chosen)
    taken, choice = choose(ways, refused, settings.algorithm, inputs, chosen)
    return enqueue(taken, [x, weight], chosen, choice=choice)


def pair(name: str, what: str, value: Any, *, least: int) -> Pair:
    """One number for both directions, or two."""
    given = tuple(value) if isinstance(value, tuple | list) else (value, value)
    if len(given) != 2 or not all(is_whole(each) and each >= least for each in given):
        raise InvalidValue(
            f"{name}: {what} is {value!r}: give an integer of at least {least}, or two, for down "
            "and across"
        )
    return int(given[0]), int(given[1])


def windows(
    name: str,
    shape: tuple[int, ...],
    window: tuple[int, ...],
    padding: Pair,
    stride: Pair,
    dilation: Pair,
) -> Pair:
    """How many windows fit down and across; refuse one that is larger than the padded image."""
    counts = []
    for axis in (0, 1):
        have = shape[2 + axis] + 2 * padding[axis]
        reach = (window[axis] - 1) * dilation[axis] + 1
        if window[axis] < 1 or reach > have:
            raise InvalidValue(
                f"{name}: a window of {window[axis]} with dilation {dilation[axis]} spans {reach} "
                f"{('rows', 'columns')[axis]}, and the padded images have {have}: pad more, or "
                "take a smaller window"
            )
        counts.append((have - reach) // stride[axis] + 1)
    return counts[0], counts[1]


def _check_channels(channels: int, weight: tuple[int, ...], groups: int) -> None:
    if channels % groups or weight[0] % groups:
        raise InvalidValue(
            f"conv2d: {channels} channels and {weight[0]} outputs cannot be divided into {groups} "
            "equal groups: choose a divisor of both"
        )
    if weight[1] * groups != channels:
        raise InvalidValue(
            f"conv2d: weight of shape {weight} takes {weight[1]} channels in each of {groups} "
            f"groups, and x has {channels}: they must be equal"
        )


def _ways(
    operation: Operation, weight: tuple[int, ...], groups: int
) -> dict[ConvAlgorithm, Operation]:
    """The operation in each way, with what its blocks do."""
    n, k, height, width = operation.output.shape
    channels, taps = weight[1], weight[2] * weight[3]
    tiles = n * math.ceil(height / TILE_Y) * math.ceil(width / TILE_X)
    cell = 2.0 * TILE_Y * TILE_X * taps
    direct = Blocks(tiles * k, cell * channels, DIRECT_SHARE)
    product = Blocks(
        tiles * groups * math.ceil(k / groups / OUTPUTS),
        cell * OUTPUTS * INPUTS * math.ceil(channels / INPUTS),
        PRODUCT_SHARE,
    )
    return {
        way: replace(operation, algorithm=way.value, blocks=blocks)
        for way, blocks in (
            (ConvAlgorithm.DIRECT, direct),
            (ConvAlgorithm.IMPLICIT_PRODUCT, product),
            (ConvAlgorithm.VENDOR, replace(product, share=VENDOR_SHARE)),
        )
    }
