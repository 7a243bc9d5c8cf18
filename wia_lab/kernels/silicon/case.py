"""One kernel of the suite with its launch, and how cases are collected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Kernel = Callable[..., None]


@dataclass(frozen=True)
class Case:
    """A kernel, its launch, and arguments made afresh for each run."""

    name: str
    kernel: Kernel
    grid: int | tuple[int, int]
    block: int | tuple[int, int]
    arguments: Callable[[], tuple[Any, ...]]


class Topic:
    """Cases in the order in which their kernels are written; iterate to get them."""

    def __init__(self) -> None:
        self._cases: list[Case] = []

    def __iter__(self) -> Any:
        return iter(self._cases)

    def case(
        self,
        name: str,
        grid: int | tuple[int, int],
        block: int | tuple[int, int],
        *arguments: Callable[[], Any] | int,
    ) -> Callable[[Kernel], Kernel]:
        """Decorator: run the kernel with this launch. May be repeated for other launches."""

        def add(kernel: Kernel) -> Kernel:
            def make() -> tuple[Any, ...]:
                return tuple(each() if callable(each) else each for each in arguments)

            self._cases.append(Case(name, kernel, grid, block, make))
            return kernel

        return add


def zeros(*shape: int, dtype: str = "float32") -> Callable[[], np.ndarray]:
    """An array to be written."""
    return lambda: np.zeros(shape, dtype)


def numbers(*shape: int, dtype: str = "float32") -> Callable[[], np.ndarray]:
    """0, 1, 2, … in an array of that shape, modulo 64, so that every type holds them."""
    return lambda: (np.arange(int(np.prod(shape))) % 64).astype(dtype).reshape(shape)


def shuffled(size: int, bound: int | None = None, seed: int = 1) -> Callable[[], np.ndarray]:
    """A permutation of 0 … size − 1, or `size` random integers below `bound`; int32."""

    def make() -> np.ndarray:
        random = np.random.default_rng(seed)
        drawn = random.permutation(size) if bound is None else random.integers(0, bound, size)
        return drawn.astype(np.int32)

    return make
