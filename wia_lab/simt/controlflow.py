"""Where diverged threads meet again: the order in which basic blocks run.

A group of threads stands at a key, one (loop rank, iteration) pair a nesting level and then the
rank of its block; the smallest key runs next. Ranks come from a topological order of the forward
graph in which all blocks of a loop, its latch included, stand before the loop's exits. So lanes
that are behind catch up, lanes that `continue` meet the others at the next iteration, and lanes
that `break` wait behind the loop: what convergence barriers make hardware do.

What only some ways out of a loop run through (`break` after a store, before the loop's `else`; a
`return` with its value) belongs to the loop: hardware runs it in the iteration that is left, lanes
of other iterations apart, and lets all meet where every way out has come (measured, H200).

CPython copies the test of a `while`: one source loop becomes two natural loops, nested, that test
on the same line. They count as one loop here, with two heads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks

SEGMENTS_A_BLOCK = 4096
"""Room between the ranks of two blocks for the segments that barriers cut a block into."""


@dataclass(slots=True)
class Loop:
    """One loop of the source."""

    heads: list[int]  # labels
    body: set[int]  # labels
    rank: int = -1  # rank of its first block
    inner: list[Loop] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Step:
    """How a key changes along an edge: keep a prefix, perhaps count an iteration, add a tail."""

    keep: int  # leading elements kept
    count: bool  # the last kept element is an iteration that begins anew
    tail: tuple[int, ...]

    def apply(self, key: tuple[int, ...]) -> tuple[int, ...]:
        """Key of a group that takes this edge from `key`."""
        if self.count:
            return (*key[: self.keep - 1], key[self.keep - 1] + 1, *self.tail)
        return key[: self.keep] + self.tail


class ControlFlow:
    """Ranks, loops and edges of one function."""

    def __init__(self, blocks: dict[int, ir.Block]) -> None:
        self.blocks = blocks
        self.entry = min(blocks)
        self.graph = compute_cfg_from_blocks(blocks)
        self.live = set(self.graph.nodes()) - set(self.graph.dead_nodes())
        self._dominators = self.graph.dominators()
        self.loops = _source_loops(blocks, self.graph)
        self._heads = {head for loop in _all(self.loops) for head in loop.heads}
        self.order = self._arrange(self.live, self.loops, self.entry)
        self.rank = {label: rank * SEGMENTS_A_BLOCK for rank, label in enumerate(self.order)}
        for loop in _all(self.loops):
            loop.rank = min(self.rank[label] for label in loop.body)
        self._nest = {label: self._enclosing(label) for label in self.order}

    def _enclosing(self, label: int) -> list[Loop]:
        nest: list[Loop] = []
        loops = self.loops
        while found := [loop for loop in loops if label in loop.body]:
            nest.append(found[0])
            loops = found[0].inner
        return nest

    def is_back(self, source: int, target: int) -> bool:
        """Whether the edge begins another iteration of a loop."""
        return target in self._heads and target in self._dominators[source]

    def innermost(self, label: int) -> Loop | None:
        """The smallest loop around a block."""
        return self._nest[label][-1] if self._nest[label] else None

    def entry_key(self) -> tuple[int, ...]:
        """Key, block rank left out, of a thread at the function's entry."""
        return self._tail(self._nest[self.entry])

    @staticmethod
    def _tail(nest: list[Loop]) -> tuple[int, ...]:
        return tuple(part for loop in nest for part in (loop.rank, 0))

    def step(self, source: int, target: int) -> Step:
        """How the key, block rank left out, changes from `source` to `target`."""
        here, there = self._nest[source], self._nest[target]
        common = 0
        while common < min(len(here), len(there)) and here[common] is there[common]:
            common += 1
        if self.is_back(source, target):
            depth = next(i for i, loop in enumerate(there) if target in loop.heads) + 1
            return Step(2 * depth, True, self._tail(there[depth:]))
        return Step(2 * common, False, self._tail(there[common:]))

    def _arrange(self, nodes: set[int], loops: list[Loop], entry: int) -> list[int]:
        """Topological order of `nodes`, each loop of this level contracted to one node."""
        of = {label: loop for loop in loops for label in loop.body}
        heads = {id(loop): loop.heads[0] for loop in loops}

        def contracted(label: int) -> int:
            return heads[id(of[label])] if label in of else label

        waits: dict[int, set[int]] = {contracted(label): set() for label in nodes}
        for label in nodes:
            for target, _ in self.graph.successors(label):
                if target in nodes and not self.is_back(label, target):
                    source, sink = contracted(label), contracted(target)
                    if source != sink:
                        waits[sink].add(source)
        order: list[int] = []
        while waits:
            ready = [label for label, sources in waits.items() if not sources]
            chosen = min(ready, key=lambda label: (label != entry, label))
            del waits[chosen]
            for sources in waits.values():
                sources.discard(chosen)
            if chosen in of:
                loop = of[chosen]
                order += self._arrange(loop.body, loop.inner, loop.heads[0])
            else:
                order.append(chosen)
        return order


def _all(loops: list[Loop]) -> list[Loop]:
    return [each for loop in loops for each in (loop, *_all(loop.inner))]


def _source_loops(blocks: dict[int, ir.Block], graph: Any) -> list[Loop]:
    """Source loops as a forest, outermost first; copies of one `while` test are merged."""
    naturals = sorted(graph.loops().items(), key=lambda item: (-len(item[1].body), item[0]))
    merged: list[tuple[Loop, set[int]]] = []  # with the lines on which the loop's head tests
    for head, natural in naturals:
        body = set(natural.body)
        tests = _exit_lines(blocks, body)
        for loop, lines in reversed(merged):
            if body < loop.body and lines & tests:
                loop.heads.append(head)
                break
        else:
            merged.append((Loop([head], body), _exit_lines(blocks, body, only=head)))
    loops = [loop for loop, _ in merged]
    _take_in_exits(loops, graph)
    forest: list[Loop] = []
    for loop in sorted(loops, key=lambda loop: (-len(loop.body), loop.heads[0])):
        level = forest
        while parents := [each for each in level if loop.body < each.body]:
            level = parents[0].inner
        level.append(loop)
    return forest


def _take_in_exits(loops: list[Loop], graph: Any) -> None:
    """Add to each loop the blocks that lie on some of its ways out only; inner loops first."""
    dominators = graph.dominators()
    for loop in reversed(loops):
        exits = _exits(loop, graph)
        usual = {target for source, target in exits if source in loop.heads}
        behind = _reachable(graph, usual or {max((t for _, t in exits), default=-1)}, dominators)
        for target in {target for _, target in exits} - behind:
            if all(source in loop.body for source, _ in graph.predecessors(target)):
                region = {label for label in dominators if target in dominators[label]} - behind
                for each in loops:
                    if loop.body <= each.body and each is not loop:
                        each.body |= region
                loop.body |= region


def _exits(loop: Loop, graph: Any) -> list[tuple[int, int]]:
    return [
        (source, target)
        for source in loop.body
        for target, _ in graph.successors(source)
        if target not in loop.body
    ]


def _reachable(graph: Any, starts: set[int], dominators: dict[int, set[int]]) -> set[int]:
    """Blocks that can be reached from `starts` without beginning another iteration."""
    found: set[int] = set()
    waiting = [start for start in starts if start in dominators]
    while waiting:
        label = waiting.pop()
        if label not in found:
            found.add(label)
            waiting += [t for t, _ in graph.successors(label) if t not in dominators[label]]
    return found


def _exit_lines(blocks: dict[int, ir.Block], body: set[int], only: int | None = None) -> set[int]:
    """Lines of the branches that leave `body` (those of the block `only`, if it is given)."""
    lines = set()
    for label in body if only is None else {only}:
        end = blocks[label].terminator
        if isinstance(end, ir.Branch) and not body.issuperset(end.get_targets()):
            lines.add(end.loc.line)
    return lines
