"""Which arguments a program may write: the others need no race tracking."""

from __future__ import annotations

from numba.core import ir, types

_POINTERS = (types.Array, types.Record, types.BaseTuple, types.IteratorType, types.Optional)


class Aliases:
    """Variables of a function that may reach the same memory, joined (union-find)."""

    def __init__(self, blocks: dict[int, ir.Block], typemap: dict[str, types.Type]) -> None:
        self.typemap = typemap
        self._parent: dict[str, str] = {}
        self.arguments: dict[int, str] = {}
        for block in blocks.values():
            for inst in block.find_insts(ir.Assign):
                self._join_assign(inst)

    def _join_assign(self, inst: ir.Assign) -> None:
        target, value = inst.target.name, inst.value
        if isinstance(value, ir.Arg):
            self.arguments[value.index] = target
        if not self._is_pointer(target):
            return
        if isinstance(value, ir.Var):
            self.join(target, value.name)
        elif isinstance(value, ir.Expr):
            sources = value.incoming_values if value.op == "phi" else value.list_vars()
            for source in sources:
                if source is not ir.UNDEFINED and self._is_pointer(source.name):
                    self.join(target, source.name)

    def _is_pointer(self, name: str) -> bool:
        kind = self.typemap.get(name)
        return isinstance(kind, (*_POINTERS, types.BoundFunction))

    def root(self, name: str) -> str:
        """The representative of a variable's class."""
        while (parent := self._parent.get(name, name)) != name:
            name = parent
        return name

    def join(self, a: str, b: str) -> None:
        """Two variables may reach the same memory."""
        self._parent[self.root(a)] = self.root(b)

    def written(self, stored: set[str]) -> set[int]:
        """Positions of the arguments that a store to one of `stored` may write."""
        roots = {self.root(name) for name in stored}
        return {position for position, name in self.arguments.items() if self.root(name) in roots}
