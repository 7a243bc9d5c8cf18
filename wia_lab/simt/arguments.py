"""Launch arguments as lane values: arrays become views into global spaces, without a copy."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.errors import LaunchError
from wia_lab.simt.constants import literal
from wia_lab.simt.memory import GLOBAL_ALIGNMENT, Space
from wia_lab.simt.values import Record, View

if TYPE_CHECKING:
    from numba.core import types

    from wia_lab.simt.build import Library
    from wia_lab.simt.frontend import TypedFunction
    from wia_lab.simt.program import Program

FIRST_ADDRESS = 1 << 20
ADDRESS_BITS = (1 << 63) - 1  # a simulated array's address may have the highest bit, as a mark


@dataclass
class _Array:
    name: str
    array: np.ndarray
    address: int | None  # on the device, where the caller says so
    written: bool
    space: Space | None = None

    @property
    def bounds(self) -> tuple[int, int]:
        return np.lib.array_utils.byte_bounds(self.array) if self.array.size else (0, 0)


class Binder:
    """Binds the arguments of one launch."""

    def __init__(self, typed: TypedFunction, program: Program, library: Library) -> None:
        self.typed, self.program, self.library = typed, program, library
        self.arrays: list[_Array] = []
        self._next_address = FIRST_ADDRESS

    def bind(self, args: Any) -> list[Any]:
        """Lane values of the arguments.

        Raises
        ------
        LaunchError
            Two plain NumPy arrays share memory and the kernel writes one: on a GPU each would be a
            copy of its own.
        """
        names, kinds = self.typed.argument_names, self.typed.argument_types
        written = self.program.written_arguments
        for position, (value, name) in enumerate(zip(args, names, strict=True)):
            self._collect(value, name, position in written)
        self._make_spaces()
        arrays = iter(self.arrays)
        return [self._value(value, kind, arrays) for value, kind in zip(args, kinds, strict=True)]

    def _collect(self, value: Any, name: str, written: bool) -> None:
        if isinstance(value, tuple):
            for number, part in enumerate(value):
                self._collect(part, f"{name}[{number}]", written)
            return
        memory = getattr(value, "memory", value)
        if isinstance(memory, (np.ndarray, np.void)):
            interface = {} if memory is value else value.__cuda_array_interface__
            array = memory if isinstance(memory, np.ndarray) else np.array(memory).reshape(1)
            address = interface["data"][0] & ADDRESS_BITS if interface else None
            self.arrays.append(_Array(name, array, address, written))

    def _value(self, value: Any, kind: types.Type, arrays: Any) -> Any:
        if isinstance(value, tuple):
            parts = [
                self._value(part, each, arrays) for part, each in zip(value, kind, strict=True)
            ]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        memory = getattr(value, "memory", value)
        if not isinstance(memory, (np.ndarray, np.void)):
            return literal(value, kind)
        bound = next(arrays)
        array, space = bound.array, bound.space
        offset = array.__array_interface__["data"][0] - self._origin[id(space)]
        if isinstance(memory, np.void):
            return Record(space, array.dtype, offset)
        return View(space, array.dtype, offset, array.shape, array.strides)

    def _make_spaces(self) -> None:
        self._origin: dict[int, int] = {}
        ordered = sorted(
            (each for each in self.arrays if each.array.size), key=lambda each: each.bounds
        )
        for group in _overlapping(ordered):
            self._check_shared_memory(group)
            self._make_space(group)
        for each in self.arrays:
            if each.space is None:
                self._make_empty(each)
        for number, space in enumerate({id(a.space): a.space for a in self.arrays}.values()):
            space.number = number

    def _check_shared_memory(self, group: list[_Array]) -> None:
        plain = [each for each in group if each.address is None]
        if len(plain) > 1 and any(each.written for each in plain):
            a, b = plain[0].name, plain[1].name
            raise LaunchError(
                f"{self.typed.name}: arguments {a} and {b} share memory, and the kernel writes "
                "one of them: on a GPU each NumPy array is copied by itself, so pass a copy of "
                "one, or one device array twice"
            )

    def _make_space(self, group: list[_Array]) -> None:
        low = min(each.bounds[0] for each in group)
        high = max(each.bounds[1] for each in group)
        first = next((each for each in group if each.address is not None), group[0])
        pointer = first.array.__array_interface__["data"][0]
        base = self._claim(high - low) if first.address is None else first.address - (pointer - low)
        data = np.frombuffer((ctypes.c_uint8 * (high - low)).from_address(low), np.uint8)
        shown = max(group, key=lambda each: each.array.nbytes)
        space = Space(
            kind="global",
            name=" and ".join(dict.fromkeys(each.name for each in group)),
            dtype=shown.array.dtype,
            shape=shown.array.shape,
            strides=shown.array.strides,
            origin=shown.array.__array_interface__["data"][0] - low,
            data=data,
            stride=high - low,
            base=base,
            granule=min(self._granule(each.array.dtype) for each in group),
            written=any(each.written for each in group),
        )
        self._origin[id(space)] = low
        for each in group:
            each.space = space

    def _make_empty(self, each: _Array) -> None:
        data = np.zeros(16, np.uint8)
        dtype = each.array.dtype
        each.space = Space(
            "global",
            each.name,
            dtype,
            each.array.shape,
            each.array.strides,
            0,
            data,
            16,
            self._claim(16),
            dtype.itemsize,
            each.written,
        )
        self._origin[id(each.space)] = each.array.__array_interface__["data"][0]

    def _claim(self, nbytes: int) -> int:
        address = self._next_address
        self._next_address += -(-nbytes // GLOBAL_ALIGNMENT) * GLOBAL_ALIGNMENT
        return address

    def _granule(self, dtype: np.dtype) -> int:
        if dtype.names or self.library.any("reinterprets"):
            return 1
        return dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize


def _overlapping(ordered: list[_Array]) -> list[list[_Array]]:
    """Arrays, sorted by address, in groups whose byte ranges overlap."""
    groups: list[list[_Array]] = []
    end = 0
    for each in ordered:
        low, high = each.bounds
        if groups and low < end:
            groups[-1].append(each)
        else:
            groups.append([each])
        end = max(end, high)
    return groups
