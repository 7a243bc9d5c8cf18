"""Which variables some path leaves unset: Python would raise, a GPU reads what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba.core import ir

if TYPE_CHECKING:
    from wia_lab.simt.controlflow import ControlFlow


def undominated(flow: ControlFlow) -> set[str]:
    """Variables with a use that an assignment does not precede on every path.

    Numba's SSA form marks the others: there a phi node has an undefined incoming value.
    """
    dominators = flow.graph.dominators()
    places: dict[str, list[tuple[int, int]]] = {}
    for label in flow.order:
        for number, inst in enumerate(flow.blocks[label].body):
            if isinstance(inst, ir.Assign):
                places.setdefault(inst.target.name, []).append((label, number))
    found = set()
    for label in flow.order:
        for number, inst in enumerate(flow.blocks[label].body):
            for name in _uses(inst):
                defined = any(
                    (where == label and at < number)
                    or (where != label and where in dominators[label])
                    for where, at in places.get(name, ())
                )
                if not defined:
                    found.add(name)
    return found


def _uses(inst: ir.Stmt) -> set[str]:
    if isinstance(inst, ir.Del):
        return set()
    if isinstance(inst, ir.Assign):
        value = inst.value
        if isinstance(value, ir.Var):
            return {value.name}
        if isinstance(value, ir.Expr) and value.op != "phi":
            return {variable.name for variable in value.list_vars()}
        return set()
    return {variable.name for variable in inst.list_vars()}


def maybe_unset(blocks: dict[int, ir.Block], seeds: set[str]) -> set[str]:
    """Variables that may hold "unset": the seeds, and what phi nodes and copies pass on."""
    found = set(seeds)
    moves: list[tuple[str, list[object]]] = []
    for block in blocks.values():
        for inst in block.find_insts(ir.Assign):
            value = inst.value
            if isinstance(value, ir.Var):
                moves.append((inst.target.name, [value]))
            elif isinstance(value, ir.Expr) and value.op == "phi":
                moves.append((inst.target.name, list(value.incoming_values)))
    changed = True
    while changed:
        changed = False
        for target, sources in moves:
            if target in found:
                continue
            if any(s is ir.UNDEFINED or getattr(s, "name", None) in found for s in sources):
                found.add(target)
                changed = True
    return found
