"""What a ladder of kernels is: steps from naive to near the limit, run alike on both back ends.

A step's plan turns the topic's arguments, NumPy arrays or a GPU's device arrays, into launches;
who runs them, the simulator or the hardware, is the caller's choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class Launch(NamedTuple):
    """One kernel with its grid, block and arguments."""

    kernel: Any
    grid: Any
    block: Any
    arguments: tuple[Any, ...]


Plan = Callable[..., list[Launch]]


@dataclass(frozen=True, slots=True)
class Step:
    """One version of a topic's kernel.

    Attributes
    ----------
    name : str
        What is new in this version, in a few words.
    plan : callable
        Takes the topic's arguments and returns the launches, in order.
    """

    name: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Topic:
    """A ladder of steps that all compute the same.

    Attributes
    ----------
    name : str
        The topic's name on the command line and in tables.
    steps : tuple of Step
        From naive to near the limit.
    arguments : callable
        Takes a NumPy generator and the numbers of a size; returns the arrays. The first is the
        output, filled with NaN or another value that no right answer has.
    reference : callable
        Takes the arguments and returns what the first must hold afterwards, by NumPy in float64.
    sizes : tuple
        Small sizes to be right at: odd, prime, ragged, and one that the tiles divide.
    tolerance : float
        Greatest error allowed, relative to the largest expected value.
    """

    name: str
    steps: tuple[Step, ...]
    arguments: Callable[..., tuple[Any, ...]]
    reference: Callable[..., np.ndarray]
    sizes: tuple[tuple[int, ...], ...]
    tolerance: float = 1e-5

    def step(self, name: str) -> Step:
        """The step called `name`; KeyError names those that there are."""
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(f"{self.name} has no step {name!r}: {', '.join(s.name for s in self.steps)}")


def ceil_div(a: int, b: int) -> int:
    """The least number of pieces of `b` that hold `a`."""
    return -(-int(a) // b)


def flat(kernel: Any, per_thread: int = 1, block: int = 256) -> Plan:
    """Plan of a kernel over a vector: each thread makes `per_thread` elements of the output."""

    def plan(out: Any, *rest: Any) -> list[Launch]:
        grid = ceil_div(out.size, per_thread * block)
        return [Launch(kernel, grid, block, (out, *rest))]

    return plan


def uniform(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random float32 numbers in [-1, 1), all distinct in practice."""
    return rng.uniform(-1, 1, shape).astype(np.float32)


def unwritten(*shape: int) -> np.ndarray:
    """An output that holds no right answer yet: NaN."""
    return np.full(shape, np.nan, np.float32)
