"""Launches that were checked before, so that the next one like it costs the host little.

A launch over the same tensors or buffers, with numbers of the same types, is ready as long as its
context has closed nothing since. Numbers may differ: they are passed anew.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from wia_lab.hal.context import Context
    from wia_lab.hal.kernel import Kernel
    from wia_lab.hal.launch import LaunchConfig

MOST = 256
"""Launches that are kept; with more, all are prepared anew."""

NUMBERS = frozenset((bool, int, float, complex, np.int32, np.int64, np.float32, np.float64))


class Ready(NamedTuple):
    """One launch: `run` takes all its arguments, of which those in memory are known."""

    run: Callable[[Sequence[Any]], None]
    arguments: list[Any]
    numbers: tuple[int, ...]  # places of the arguments that are passed anew
    kept: tuple[Any, ...]  # so that no identity in the key is used again


class Prepared:
    """The launches that are ready in one stream."""

    def __init__(self, context: Context) -> None:
        self._context, self._generation = context, context.generation
        self._known: dict[tuple[Any, ...], Ready] = {}

    def run(self, kernel: Kernel, config: LaunchConfig, arguments: Sequence[Any]) -> bool:
        """Launch, if a launch like it is ready; otherwise say so and do nothing."""
        if not self._known:
            return False
        context = self._context
        if context.generation != self._generation or context.process != os.getpid():
            self._known.clear()
            return False
        found = self._known.get(_key(kernel, config, arguments))
        if found is None:
            return False
        given = found.arguments.copy()
        for place in found.numbers:
            given[place] = arguments[place]
        found.run(given)
        return True

    def keep(
        self,
        kernel: Kernel,
        config: LaunchConfig,
        arguments: Sequence[Any],
        run: Callable[[Sequence[Any]], None],
        bound: list[Any],
        memory: tuple[type[Any], ...],
    ) -> None:
        """Remember a launch that was just made; `memory` is the classes of arguments in memory.

        One with a part of a buffer, or memory of another context, is not kept, nor one whose
        numbers the kernel's text gives a type of its own.
        """
        numbers = []
        for place, each in enumerate(arguments):
            if each.__class__ in NUMBERS and kernel.parameters[place].dtype is None:
                numbers.append(place)
            elif not isinstance(each, memory) or _context(each) is not self._context:
                return
        if self._generation != self._context.generation or len(self._known) >= MOST:
            self._known.clear()
            self._generation = self._context.generation
        key = _key(kernel, config, arguments)
        known = self._known

        def forget(_: object) -> None:
            known.pop(key, None)

        refers = [
            weakref.ref(each, forget)
            for place, each in enumerate(arguments)
            if place not in numbers
        ]
        self._known[key] = Ready(run, bound, tuple(numbers), (kernel, config, *refers))


def _context(memory: Any) -> object:
    return memory.context


def _key(kernel: Kernel, config: LaunchConfig, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """What says that two launches are alike: identities of memory, classes of numbers."""
    return (
        id(kernel),
        config,
        *[each.__class__ if each.__class__ in NUMBERS else id(each) for each in arguments],
    )
