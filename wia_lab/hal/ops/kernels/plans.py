"""From an operation to launches: operands made contiguous, then one kernel, or a few.

A plan asks its maker for room between two launches (`scratch`) and for constants in the device's
memory, and yields launches in order; a real device runs them in a stream, a test on the simulator.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from wia_lab.hal.ops.kernels import elements, images, products, rows
from wia_lab.hal.ops.kernels.rearranging import rearrange
from wia_lab.hal.tensor_layout import row_strides
from wia_lab.kernels.ladder import Launch, ceil_div
from wia_lab.kernels.matmul import MATMUL, TILE

if TYPE_CHECKING:
    from wia_lab.hal.ops.operation import Operation

THREADS = 256
MOST_BLOCKS = 132 * 16
"""Blocks of a launch whose threads take several elements: some for each multiprocessor, H200."""

MOST_ALONG_Y = MOST_ALONG_Z = 65535
"""Blocks of a grid along those axes, on every device so far."""

STEPS = {
    "naive": "naive",
    "tiled": "tiled",
    "double-buffered": "double-buffered",
    "pipeline": "turned tile, unrolled",
}
"""Step of `wia_lab.kernels.matmul` for each algorithm of `MatmulAlgorithm`."""


class Room(Protocol):
    """What a plan asks for."""

    def scratch(self, count: int, dtype: np.dtype[Any]) -> Any:
        """An array of `count` elements on the device, until the operation has ended."""

    def constant(self, values: np.ndarray[Any, Any]) -> Any:
        """An array with these values on the device."""


@dataclass(frozen=True, slots=True)
class Operand:
    """Elements in an array of one dimension on the device: `start`, and strides in elements."""

    flat: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int = 0

    @property
    def size(self) -> int:
        """How many elements."""
        return math.prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Whether they are all of `flat`, in C's order."""
        return self.flat.size == self.size and self.strides == row_strides(self.shape, 1)

    def broadcast(self, shape: tuple[int, ...]) -> Operand:
        """As NumPy's `broadcast_to`."""
        missing = len(shape) - len(self.shape)
        own = zip(self.shape, self.strides, strict=True)
        strides = (*[0] * missing, *(0 if n == 1 else stride for n, stride in own))
        return Operand(self.flat, self.dtype, shape, strides, self.start)

    def transposed(self, axes: Sequence[int]) -> Operand:
        """Axis i of the result is axis `axes[i]`."""
        return Operand(
            self.flat,
            self.dtype,
            tuple(self.shape[axis] for axis in axes),
            tuple(self.strides[axis] for axis in axes),
            self.start,
        )


def plan(
    operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
) -> Iterator[Launch]:
    """Launches that compute `operation`; `output` is contiguous and has an element or more."""
    launches: Iterator[Launch] = _PLANS[operation.name](operation, inputs, output, room)
    return launches


def _over(kernel: Any, count: int, *arguments: Any) -> Launch:
    """A launch whose threads share `count` elements."""
    blocks = min(MOST_BLOCKS, max(1, ceil_div(count, THREADS)))
    return Launch(kernel, blocks, THREADS, arguments)


def _copy(target: Operand, source: Operand, room: Room) -> Launch:
    """A launch that copies elements one by one in C's order, to the target's type."""
    table = np.array(
        list(zip(source.shape, target.strides, source.strides, strict=True)), np.int64
    ).reshape(-1, 3)
    arguments = (target.flat, target.start, source.flat, source.start, room.constant(table))
    return _over(rearrange(target.dtype, source.dtype), source.size, *arguments, source.size)


@dataclass(slots=True)
class _Ready:
    """Contiguous elements of one type, and the launches that make them so."""

    flat: Any
    launches: list[Launch]


def _ready(operand: Operand, room: Room, dtype: np.dtype[Any] | None = None) -> _Ready:
    wanted = dtype or operand.dtype
    if operand.is_contiguous and operand.dtype == wanted:
        return _Ready(operand.flat, [])
    flat = room.scratch(operand.size, wanted)
    made = Operand(flat, wanted, operand.shape, row_strides(operand.shape, 1))
    return _Ready(flat, [_copy(made, operand, room)] if operand.size else [])


def _each(kernel_of: Callable[[Operation], Any]) -> Any:
    """The plan of a kernel that takes the output and one or two inputs of its shape."""

    def made(
        operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
    ) -> Iterator[Launch]:
        given = list(inputs)
        if "number" in operation.options:
            number = room.constant(np.full(1, operation.options["number"], output.dtype))
            given.append(Operand(number, output.dtype, (), ()))
        ready = [_ready(each.broadcast(output.shape), room) for each in given]
        for each in ready:
            yield from each.launches
        flats = (each.flat for each in ready)
        yield _over(kernel_of(operation), output.size, output.flat, *flats)

    return made


def _convert(
    operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
) -> Iterator[Launch]:
    del operation
    yield _copy(output, inputs[0], room)


def _fill(
    operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
) -> Iterator[Launch]:
    del inputs
    value = room.constant(np.full(1, operation.options["value"], output.dtype))
    yield _over(elements.fill, output.size, output.flat, value)


def _concat(
    operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
) -> Iterator[Launch]:
    axis, start = operation.options["axis"], output.start
    for each in inputs:
        if each.size:
            part = Operand(output.flat, output.dtype, each.shape, output.strides, start)
            yield _copy(part, each, room)
        start += each.shape[axis] * output.strides[axis]


def _reduced(kernel_of: Callable[[np.dtype[Any]], Any]) -> Any:
    """The plan of a kernel that makes one number of each row: those axes are brought to the end."""

    def made(
        operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
    ) -> Iterator[Launch]:
        a, axes = inputs[0], operation.options["axes"]
        kept = [axis for axis in range(len(a.shape)) if axis not in axes]
        ready = _ready(a.transposed([*kept, *axes]), room)
        yield from ready.launches
        length = math.prod(a.shape[axis] for axis in axes)
        kernel = kernel_of(operation.accumulate)
        yield _per_row(kernel, output.size, output.flat, ready.flat, length, 1)

    return made


def _softmax(
    operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
) -> Iterator[Launch]:
    axis, shape = operation.options["axis"], output.shape
    ready = _ready(inputs[0], room)
    yield from ready.launches
    inner = math.prod(shape[axis + 1 :])
    count = output.size // shape[axis]
    kernel = rows.softmax(operation.accumulate)
    yield _per_row(kernel, count, output.flat, ready.flat, shape[axis], inner)


def _per_row(kernel: Any, count: int, *arguments: Any) -> Launch:
    return Launch(kernel, min(count, MOST_BLOCKS), rows.THREADS, arguments)


def _product(
    operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
) -> Iterator[Launch]:
    a, b = (_ready(each, room, operation.options["products"]) for each in inputs)
    for each in (a, b):
        yield from each.launches
    m, n = output.shape[-2:]
    depth = inputs[0].shape[-1]
    if depth and operation.accumulate == np.float32:
        sizes = [each.size for each in inputs]
        yield from _ladder(operation, (output, a.flat, b.flat), sizes, (m, n, depth), room)
        return
    arguments = (output.flat, a.flat, b.flat, m, n, depth)
    tile = products.TILE
    if operation.algorithm == "naive" or ceil_div(m, tile) > MOST_ALONG_Y:
        yield _over(products.naive(operation.accumulate), output.size, *arguments)
        return
    stack = min(output.size // (m * n), MOST_ALONG_Z)
    grid = (ceil_div(n, tile), ceil_div(m, tile), stack)
    yield Launch(products.tiled(operation.accumulate), grid, (tile, tile), arguments)


def _ladder(
    operation: Operation,
    given: tuple[Operand, Any, Any],
    counts: Sequence[int],
    sizes: tuple[int, int, int],
    room: Room,
) -> Iterator[Launch]:
    """A step of the ladder for each matrix of the stack, on float32.

    Products of float16 are exact in float32, so its numbers are widened first.
    """
    output, *flats = given
    single, products_of = np.dtype(np.float32), operation.options["products"]
    factors = [
        _ready(Operand(flat, products_of, (count,), (1,)), room, single)
        for flat, count in zip(flats, counts, strict=True)
    ]
    for each in factors:
        yield from each.launches
    made = output.flat if output.dtype == single else room.scratch(output.size, single)
    m, n, depth = sizes
    step = MATMUL.step(STEPS[operation.algorithm])
    left, right = (each.flat for each in factors)
    part = MOST_ALONG_Y * TILE  # rows of one launch, by the step with the smallest tiles
    for place, row in itertools.product(range(output.size // (m * n)), range(0, m, part)):
        count, first = min(part, m - row), place * m + row
        yield from step.plan(
            made[first * n : (first + count) * n].reshape(count, n),
            left[first * depth : (first + count) * depth].reshape(count, depth),
            right[place * depth * n : (place + 1) * depth * n].reshape(depth, n),
        )
    if made is not output.flat:
        yield _copy(output, Operand(made, single, output.shape, output.strides), room)


def _conv2d(
    operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
) -> Iterator[Launch]:
    options = operation.options
    x, weight = (_ready(each, room, options["products"]) for each in inputs)
    for each in (x, weight):
        yield from each.launches
    outputs, mine, *taps = inputs[1].shape
    if not mine:  # a sum of nothing
        yield _over(elements.fill, output.size, output.flat, room.constant(np.zeros(1, np.int8)))
        return
    numbers = [*inputs[0].shape[1:], outputs, mine, *taps, *output.shape[2:]]
    numbers += [*options["padding"], *options["stride"], *options["dilation"]]
    table = room.constant(np.array(numbers, np.int64))
    arguments = (output.flat, x.flat, weight.flat, table)
    if operation.algorithm == "direct":
        yield _over(images.direct(operation.accumulate), output.size, *arguments)
        return
    tile, groups = images.TILE, options["groups"]
    across, down = ceil_div(math.prod(output.shape[2:]), tile), ceil_div(outputs // groups, tile)
    grid = (across, down, min(output.shape[0] * groups, MOST_ALONG_Z))
    yield Launch(images.implicit_product(operation.accumulate), grid, (tile, tile), arguments)


def _pool2d(
    operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
) -> Iterator[Launch]:
    options = operation.options
    ready = _ready(inputs[0], room)
    yield from ready.launches
    numbers = [*inputs[0].shape[2:], *output.shape[2:], *options["kernel_size"]]
    table = room.constant(np.array([*numbers, *options["stride"], *options["padding"]], np.int64))
    if options["kind"] == "max":
        kernel = images.largest(output.dtype)
    else:
        kernel = images.average(operation.accumulate, options["count_padding"])
    yield _over(kernel, output.size, output.flat, ready.flat, table)


def _batch_norm(
    operation: Operation, inputs: Sequence[Operand], output: Operand, room: Room
) -> Iterator[Launch]:
    ready = [_ready(each, room) for each in inputs]
    for each in ready:
        yield from each.launches
    inner = math.prod(output.shape[operation.options["axis"] + 1 :])
    yield _over(
        elements.batch_norm(operation.accumulate),
        output.size,
        output.flat,
        *(each.flat for each in ready),
        operation.options["epsilon"],
        inner,
    )


_PLANS: dict[str, Any] = {
    "add": _each(lambda _: elements.add),
    "mul": _each(lambda _: elements.mul),
    "relu": _each(lambda operation: elements.relu(operation.output.dtype)),
    "gelu": _each(
        lambda operation: elements.gelu(operation.accumulate, operation.options["approximate"])
    ),
    "sigmoid": _each(lambda operation: elements.sigmoid(operation.accumulate)),
    "convert": _convert,
    "fill": _fill,
    "sum": _reduced(rows.total),
    "max": _reduced(rows.largest),
    "softmax": _softmax,
    "concat": _concat,
    "matmul": _product,
    "batch_matmul": _product,
    "conv2d": _conv2d,
    "pool2d": _pool2d,
    "batch_norm": _batch_norm,
}
