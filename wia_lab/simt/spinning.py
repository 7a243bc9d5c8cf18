"""Loops that may wait for another thread: they end when memory changes, and not of themselves.

Such a loop has no iterator, and at least one of its exit tests depends on something it loads. Its
back edges name the variables that the tests depend on; when a round changes none of them and
nothing in memory, the next round would be the same (`Scheduler._went_round`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba.core import ir, types

from wia_lab.simt import stubs
from wia_lab.simt.stubs import Stub

if TYPE_CHECKING:
    from wia_lab.simt.build import Builder
    from wia_lab.simt.controlflow import Loop


class SpinLoops:
    """The loops of a function that may spin, and their edges."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.flow = builder.flow
        self.loops: dict[int, tuple[Loop, tuple[str, ...]]] = {}
        stack = list(self.flow.loops)
        while stack:
            loop = stack.pop()
            stack += loop.inner
            tested = self._tested(loop)
            if tested is not None:
                self.loops[id(loop)] = (loop, tested)

    def edge(self, source: int, target: int) -> tuple[tuple[int, ...] | None, bool]:
        """Slots to compare where the edge begins a new round; whether it leaves such a loop."""
        for loop, tested in self.loops.values():
            if self.flow.is_back(source, target) and target in loop.heads:
                return tuple(self.builder.slot(name) for name in tested), False
        leaves = any(
            source in loop.body and target not in loop.body for loop, _ in self.loops.values()
        )
        return None, leaves

    def _tested(self, loop: Loop) -> tuple[str, ...] | None:
        """Phi variables of the heads on which an exit depends; None if the loop cannot spin."""
        conditions = [
            self.flow.blocks[label].terminator.cond.name
            for label in loop.body
            if isinstance(self.flow.blocks[label].terminator, ir.Branch)
            and not loop.body.issuperset(self.flow.blocks[label].terminator.get_targets())
        ]
        inside = {
            inst.target.name: inst.value
            for label in loop.body
            for inst in self.flow.blocks[label].find_insts(ir.Assign)
        }
        seen, stack, phis, loads = set(), list(conditions), [], False
        while stack:
            name = stack.pop()
            if name in seen or name not in inside:
                continue
            seen.add(name)
            value = inside[name]
            if isinstance(value, ir.Var):
                stack.append(value.name)
            elif isinstance(value, ir.Expr):
                if value.op == "iternext":
                    return None
                if value.op == "phi":
                    phis.append(name)
                    stack += [v.name for v in value.incoming_values if v is not ir.UNDEFINED]
                else:
                    loads |= self._may_load(value)
                    stack += [each.name for each in value.list_vars()]
        return tuple(phis) if loads else None

    def _may_load(self, value: ir.Expr) -> bool:
        if value.op in ("getitem", "static_getitem"):
            return not isinstance(self.builder.type_of(value.value), types.BaseTuple)
        if value.op == "getattr":
            return isinstance(self.builder.type_of(value.value), types.Record)
        if value.op == "call":
            callee = self.builder.type_of(value.func)
            if isinstance(callee, (types.Dispatcher, types.RecursiveCall)):
                return True
            key = getattr(callee, "typing_key", None)
            return isinstance(key, Stub) and (
                key.__qualname__.startswith("atomic.") or key in stubs.cache_hints.values()
            )
        return False
