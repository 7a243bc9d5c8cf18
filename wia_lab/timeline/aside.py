"""Work that reads memory when it starts and writes it when it ends, whenever it is really done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Aside:
    """Does a function's work early, and lets nobody see what it wrote to `arrays` until `land`."""

    def __init__(self, arrays: Iterable[np.ndarray[Any, Any]]) -> None:
        self._arrays = [each for each in arrays if each.size]
        self._changes: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    def run(self, function: Callable[[], T]) -> T:
        """Call the function; the arrays are as before when it returns."""
        before = [np.array(each, order="C") for each in self._arrays]
        result = function()
        after = [np.array(each, order="C") for each in self._arrays]
        for array, old, new in zip(self._arrays, before, after, strict=True):
            array[...] = old
            self._changes.append((_changed(old, new), new))
        return result

    def land(self) -> None:
        """Write what was changed, and nothing else: others may have written the rest since."""
        for array, (changed, new) in zip(self._arrays, self._changes, strict=True):
            array[changed] = new[changed]


def _changed(
    old: np.ndarray[Any, Any], new: np.ndarray[Any, Any]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Elements, of any type, whose bytes differ."""
    a, b = (each.reshape(-1).view(np.uint8) for each in (old, new))
    differs: np.ndarray[Any, np.dtype[np.bool_]] = (a != b).reshape(old.size, -1).any(axis=1)
    return differs.reshape(old.shape)
