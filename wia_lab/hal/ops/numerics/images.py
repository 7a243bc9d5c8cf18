"""Batches of images: (images, channels, height, width)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from wia_lab.hal.ops.numerics.products import multiply

if TYPE_CHECKING:
    from wia_lab.hal.ops.operation import Operation

Array = np.ndarray[Any, Any]
Pair = tuple[int, int]


def conv2d(operation: Operation, x: Array, weight: Array) -> Any:
    """Sum over a group's channels and all taps of weight · x; outside the image x is zero.

    "direct" adds the taps one after the other, "implicit-product" sums channels and taps at once.
    """
    options = operation.options
    n, c, groups = x.shape[0], x.shape[1], options["groups"]
    k, _, height, width = weight.shape
    taps = _windows(
        _padded(x, options["padding"], 0), (height, width), options["stride"], options["dilation"]
    )
    pixels = taps.shape[2:4]
    columns = taps.transpose(0, 1, 4, 5, 2, 3)  # images, channels, taps y, taps x, pixels y, x
    shape = (n, groups, c // groups * height * width, pixels[0] * pixels[1])
    if operation.algorithm != "direct":
        product = multiply(
            operation, weight.reshape(groups, k // groups, shape[2]), columns.reshape(shape)
        )
        return product.reshape(n, k, *pixels)
    sums = np.zeros((n, groups, k // groups, shape[3]), operation.accumulate)
    for y in range(height):
        for z in range(width):
            part = weight[:, :, y, z].reshape(groups, k // groups, c // groups)
            seen = columns[:, :, y, z].reshape(n, groups, c // groups, shape[3])
            sums += multiply(operation, part, seen)
    return sums.reshape(n, k, *pixels)


def pool2d(operation: Operation, x: Array) -> Any:
    """The maximum or the mean of each window; cells outside count where `count_padding` says so."""
    options = operation.options
    window, stride, padding = options["kernel_size"], options["stride"], options["padding"]
    if options["kind"] == "max":
        least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        return np.max(_windows(_padded(x, padding, least), window, stride, (1, 1)), axis=(4, 5))
    taken = x.astype(operation.accumulate)
    sums = np.sum(_windows(_padded(taken, padding, 0), window, stride, (1, 1)), axis=(4, 5))
    if options["count_padding"]:
        return sums / (window[0] * window[1])
    inside = np.ones((1, 1, *x.shape[2:]), operation.accumulate)
    cells = np.sum(_windows(_padded(inside, padding, 0), window, stride, (1, 1)), axis=(4, 5))
    return sums / cells


def batch_norm(
    operation: Operation, x: Array, scale: Array, bias: Array, mean: Array, variance: Array
) -> Any:
    """(x − mean) / √(variance + ε) · scale + bias, each of one channel."""
    axis, dtype = operation.options["axis"], operation.accumulate
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    s, b, m, v = (each.astype(dtype).reshape(shape) for each in (scale, bias, mean, variance))
    epsilon = dtype.type(operation.options["epsilon"])
    return (x.astype(dtype) - m) * (s / np.sqrt(v + epsilon)) + b


def _padded(x: Array, padding: Pair, value: float) -> Any:
    sides = ((0, 0), (0, 0), (padding[0], padding[0]), (padding[1], padding[1]))
    return np.pad(x, sides, constant_values=value)


def _windows(x: Array, window: Pair, stride: Pair, dilation: Pair) -> Any:
    """A view: images, channels, windows down, windows across, and each one's cells."""
    reach = [(n - 1) * d + 1 for n, d in zip(window, dilation, strict=True)]
    counts = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, stride, strict=True)]
    n, c, y, z = x.strides
    return as_strided(
        x,
        (*x.shape[:2], *counts, *window),
        (n, c, y * stride[0], z * stride[1], y * dilation[0], z * dilation[1]),
        writeable=False,
    )
