"""What one thread does to a whole array: flat iteration, sums, ufuncs with an output array."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import ir, types
from numba.core.typing import signature as make_signature

from wia_lab.simt.instructions.tables import ATTRIBUTES, call, method
from wia_lab.simt.semantics import cast, dtype_of, operation
from wia_lab.simt.values import Items, Value, View


@dataclass(frozen=True, slots=True)
class Flat:
    """All elements of an array in C order; `as_views`: as arrays without dimensions."""

    view: View
    as_views: bool

    def item(self, group: Any, at: Value, active: np.ndarray) -> Value:
        """Element number `at`."""
        indices = unravel(at, self.view.shape)
        if not self.as_views:
            return group.machine.load(self.view, indices, active, group.segment.end.site)
        offset = self.view.offset
        for index, stride in zip(indices, self.view.strides, strict=True):
            offset = offset + index * stride
        return View(self.view.space, self.view.dtype, offset, (), ())


@dataclass(frozen=True, slots=True)
class Indices:
    """The indices of an array of a shape, in C order: `np.ndindex`."""

    shape: tuple[Value, ...]

    def item(self, group: Any, at: Value, active: np.ndarray) -> Value:
        """Index number `at`, as a tuple."""
        return unravel(at, self.shape)


def unravel(at: Value, shape: tuple[Value, ...]) -> tuple[Value, ...]:
    """The index, in C order, of element number `at`."""
    parts = []
    for extent in reversed(shape):
        whole = np.maximum(extent, 1)  # of an empty array no element is asked for
        parts.append(at % whole)
        at = at // whole
    return tuple(reversed(parts))


def _size(shape: tuple[Value, ...]) -> Value:
    size: Value = np.int64(1)
    for extent in shape:
        size = size * extent
    return size


@call(np.nditer)
def bind_nditer(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    if not isinstance(builder.type_of(arguments[0]), types.Array):
        raise builder.refuse("np.nditer goes over one array here: nest loops over indices instead")
    slot = builder.read(arguments[0])
    return lambda group: _flat(group.slots[slot], as_views=True)


def _flat(view: View, *, as_views: bool) -> Items:
    return Items(Flat(view, as_views), np.int64(0), _size(view.shape))


def bind_flat(builder: Any, variable: ir.Var) -> Any:
    """`array.flat`."""
    slot = builder.read(variable)
    return lambda group: _flat(group.slots[slot], as_views=False)


@call(np.ndindex)
def bind_ndindex(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    slots = [builder.read(argument) for argument in arguments]

    def make(group: Any) -> Items:
        parts = [group.slots[slot] for slot in slots]
        whole = len(parts) == 1 and isinstance(parts[0], tuple)
        shape = parts[0] if whole else tuple(parts)
        return Items(Indices(shape), np.int64(0), _size(shape))

    return make


@dataclass(frozen=True, slots=True)
class Enumerated:
    """Index and element of each place of an array: `np.ndenumerate`."""

    view: View

    def item(self, group: Any, at: Value, active: np.ndarray) -> Value:
        """Pair number `at`."""
        indices = unravel(at, self.view.shape)
        element = group.machine.load(self.view, indices, active, group.segment.end.site)
        return (indices, element)


@call(np.ndenumerate)
def bind_ndenumerate(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    slot = builder.read(arguments[0])

    def make(group: Any) -> Items:
        view = group.slots[slot]
        return Items(Enumerated(view), np.int64(0), _size(view.shape))

    return make


def bind_sum(builder: Any, array: ir.Var, signature: Any, target: ir.Var) -> Any:
    """The sum of all elements, one after another, in the type of the result."""
    result = signature.return_type
    convert = cast(builder.type_of(array).dtype, result)
    slot, site = builder.read(array), builder.site()
    dtype = dtype_of(result)

    def total(group: Any) -> Value:
        view = group.slots[slot]
        size = _size(view.shape)
        value: Value = dtype.type(0)
        for number in range(int(np.max(size))):
            active = group.bits & (number < size)
            element = group.machine.load(view, unravel(np.int64(number), view.shape), active, site)
            added = value + convert(element)
            value = added if np.ndim(size) == 0 else np.where(number < size, added, value)
        return value

    return total


@method("sum")
def bind_sum_method(
    builder: Any, this: ir.Var, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    chosen = [each for each in arguments if isinstance(each, ir.Var) and each.name != this.name]
    if any(not isinstance(builder.type_of(each), types.NoneType) for each in chosen):
        raise builder.refuse("the simulator sums whole arrays: write a loop for .sum(axis, dtype)")
    return bind_sum(builder, this, signature, target)


@method("bit_count")
def bind_bit_count(
    builder: Any, this: ir.Var, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    slot, dtype = builder.read(this), dtype_of(signature.return_type)
    return lambda group: np.bitwise_count(np.abs(group.slots[slot])).astype(dtype)


def bind_ufunc(builder: Any, key: Any, arguments: list[Any], target: ir.Var) -> Any:
    """`np.sin(a, out)`: every element of `out`, by the thread that calls it."""
    kinds = [builder.type_of(argument) for argument in arguments]
    elements = [getattr(kind, "dtype", kind) for kind in kinds]
    inner = make_signature(elements[-1], *elements[:-1])
    compute = operation(key, inner)
    if compute is None:
        raise builder.refuse(f"the simulator does not know {key.__name__} of arrays")
    slots, site = [builder.read(argument) for argument in arguments], builder.site()
    builder.stored.add(arguments[-1].name)

    def run(group: Any) -> View:
        *inputs, out = (group.slots[slot] for slot in slots)
        extents = [int(np.max(extent)) for extent in out.shape]
        for index in itertools.product(*map(range, extents)):
            values = [_broadcast(group, each, index, site) for each in inputs]
            where = tuple(map(np.int64, index))
            group.machine.store(out, where, compute(*values), group.bits, site)
        return out

    return run


def _broadcast(group: Any, value: Value, index: tuple[int, ...], site: Any) -> Value:
    if not isinstance(value, View):
        return value
    own = index[len(index) - value.ndim :]
    where = tuple(
        np.int64(0 if np.ndim(n) == 0 and n == 1 else i)
        for i, n in zip(own, value.shape, strict=True)
    )
    return group.machine.load(value, where, group.bits, site)


_SLICE_DEFAULTS = {"start": 0, "stop": np.iinfo(np.int64).max, "step": 1}


def _bind_slice_part(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    slot, name = builder.read(expr.value), expr.attr
    default = np.int64(_SLICE_DEFAULTS[name])

    def read(group: Any) -> Value:
        part = getattr(group.slots[slot], name)
        return default if part is None else part

    return read


def _bind_member(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    """`Colour.RED` of an enumeration."""
    kind = builder.type_of(expr.value)
    value = dtype_of(kind.dtype).type(kind.instance_class[expr.attr].value)
    return lambda _: value


ATTRIBUTES[types.SliceType] = _bind_slice_part
ATTRIBUTES[types.EnumClass] = _bind_member
ATTRIBUTES[types.IntEnumClass] = _bind_member
