"""Pooling and normalisation (§3.6.1): pool2d, batch_norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from wia_lab.hal.checks import checked_flag, is_real
from wia_lab.hal.errors import InvalidValue
from wia_lab.hal.ops.choice import check_member
from wia_lab.hal.ops.convolution import Pair, pair, windows
from wia_lab.hal.ops.work import (
    accumulated,
    check_floats,
    check_tensors,
    checked_axis,
    enqueue,
    planned,
)

if TYPE_CHECKING:
    from wia_lab.hal.stream import Stream
    from wia_lab.hal.tensor import Tensor


class PoolType(Enum):
    """What a window becomes."""

    MAX = "max"
    AVERAGE = "average"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool2dConfig:
    """How images are pooled; one number for both directions, or (down, across).

    Attributes
    ----------
    type : PoolType
        What a window becomes.
    kernel_size : int or pair
        Of the window.
    stride : int, pair or None
        From one window to the next; None is the window's own size.
    padding : int or pair
        Rows and columns on each side, less than the window has. They are never a maximum.
    count_padding : bool
        An average counts them, as zeros.
    """

    type: PoolType = PoolType.MAX
    kernel_size: int | Pair = 2
    stride: int | Pair | None = None
    padding: int | Pair = 0
    count_padding: bool = False

    def __post_init__(self) -> None:
        check_member("Pool2dConfig", "type", self.type, PoolType)
        checked_flag("Pool2dConfig: count_padding", self.count_padding)
        size = pair("Pool2dConfig", "kernel_size", self.kernel_size, least=1)
        if self.stride is not None:
            pair("Pool2dConfig", "stride", self.stride, least=1)
        padding = pair("Pool2dConfig", "padding", self.padding, least=0)
        if any(side >= n for side, n in zip(padding, size, strict=True)):
            raise InvalidValue(
                f"Pool2dConfig: padding {padding} with kernel_size {size}: a window would hold "
                "nothing but padding; pad less"
            )
        if self.count_padding and self.type is PoolType.MAX:
            raise InvalidValue(
                "Pool2dConfig: count_padding is for PoolType.AVERAGE: padding is never a maximum"
            )


def pool2d(
    x: Tensor, config: Pool2dConfig | None = None, *, stream: Stream | None = None
) -> Tensor:
    """The maximum, or the mean, of each window of images: (n, c, h, w) gives (n, c, h', w').

    NaN in a window makes its maximum NaN. Averages are for floating point.
    """
    check_tensors("pool2d", x=x)
    settings = Pool2dConfig() if config is None else config
    if not isinstance(settings, Pool2dConfig):
        raise InvalidValue(f"pool2d: config is {config!r}: give a Pool2dConfig")
    if x.ndim != 4:
        raise InvalidValue(
            f"pool2d: x has shape {x.shape}: it has four axes, (images, channels, height, width)"
        )
    if settings.type is PoolType.AVERAGE:
        check_floats("pool2d", x)
    size = pair("pool2d", "kernel_size", settings.kernel_size, least=1)
    step = settings.stride if settings.stride is not None else size
    stride_pair = pair("pool2d", "stride", step, least=1)
    padding = pair("pool2d", "padding", settings.padding, least=0)
    shape = (*x.shape[:2], *windows("pool2d", x.shape, size, padding, stride_pair, (1, 1)))
    operation = planned(
        "pool2d",
        [x],
        shape,
        x.dtype,
        accumulate=x.dtype if settings.type is PoolType.MAX else accumulated(x.dtype),
        work=math.prod(shape) * math.prod(size),
        kind=settings.type.value,
        kernel_size=size,
        stride=stride_pair,
        padding=padding,
        count_padding=settings.count_padding,
    )
    return enqueue(operation, [x], stream)


def batch_norm(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float = 1e-5,
    axis: int = 1,
    stream: Stream | None = None,
) -> Tensor:
    """(x − mean) / √(variance + epsilon) · scale + bias, each with one element a channel.

    It is the form used after training: mean and variance are given. Channels lie along `axis`.
    """
    parameters = {"scale": scale, "bias": bias, "mean": mean, "variance": variance}
    check_tensors("batch_norm", x=x, **parameters)
    check_floats("batch_norm", x)
    place = checked_axis("batch_norm", axis, x.ndim)
    for label, each in parameters.items():
        if each.shape != (x.shape[place],):
            raise InvalidValue(
                f"batch_norm: {label} has shape {each.shape}, and x has {x.shape[place]} channels "
                f"along axis {place}: give shape ({x.shape[place]},)"
            )
    if not is_real(epsilon) or not 0 <= epsilon < math.inf:
        raise InvalidValue(f"batch_norm: epsilon is {epsilon!r}: give 0 or more")
    inputs = [x, *parameters.values()]
    operation = planned(
        "batch_norm",
        inputs,
        x.shape,
        x.dtype,
        accumulate=accumulated(x.dtype),
        work=4.0 * x.size,
        axis=place,
        epsilon=float(epsilon),
    )
    return enqueue(operation, inputs, stream)
