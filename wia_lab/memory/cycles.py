"""Find what only cycles keep alive, by trial deletion.

Take off every count that comes from another counted thing. What is left over is held from
outside; it, and all that it reaches, is needed. The rest is garbage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["unreachable"]

NodeT = TypeVar("NodeT")


def unreachable(
    nodes: Iterable[NodeT],
    *,
    count: Callable[[NodeT], int],
    holds: Callable[[NodeT], Iterable[NodeT]],
) -> set[NodeT]:
    """Return the nodes that nothing outside `nodes` keeps alive.

    Parameters
    ----------
    nodes : iterable
        Every counted thing.
    count : callable
        How many references a node has, from inside and outside.
    holds : callable
        What a node refers to, one entry a reference.
    """
    everything = list(nodes)
    outside = {node: count(node) for node in everything}
    for node in everything:
        for held in holds(node):
            outside[held] -= 1
    needed = {node for node, references in outside.items() if references > 0}
    reached = list(needed)
    while reached:
        for held in holds(reached.pop()):
            if held not in needed:
                needed.add(held)
                reached.append(held)
    return {node for node in everything if node not in needed}
