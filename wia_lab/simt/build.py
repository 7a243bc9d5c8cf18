"""From typed Numba IR to a `Program`: every instruction is bound to what executes it, once.

The builder walks the blocks in the order of their ranks and cuts each into segments. How an
instruction executes is told by the tables of `wia_lab.simt.instructions`; a new construct is a new
entry there and nothing else.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import tokenize
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numba.core import errors, ir, types

from wia_lab.simt.constants import literal
from wia_lab.simt.controlflow import ControlFlow
from wia_lab.simt.conversions import conversion
from wia_lab.simt.definedness import maybe_unset, undominated
from wia_lab.simt.events import Site
from wia_lab.simt.program import (
    Branch,
    Compute,
    Edge,
    End,
    Jump,
    Program,
    Raise,
    Return,
    Segment,
)
from wia_lab.simt.spinning import SpinLoops
from wia_lab.simt.values import UNSET, Partial
from wia_lab.simt.written import Aliases

if TYPE_CHECKING:
    import numpy as np

    from wia_lab.simt.frontend import TypedFunction


@dataclass
class Library:
    """All functions of one launch: their programs, and the sites of all of them."""

    sites: list[Site] = field(default_factory=list)
    programs: dict[int, Program] = field(default_factory=dict)

    def any(self, flag: str) -> bool:
        """Whether a function of the launch has a flag of `Program`."""
        return any(getattr(program, flag) for program in self.programs.values())

    def shared_bytes(self) -> int:
        """Static shared memory that all functions declare."""
        return sum(program.shared_bytes for program in self.programs.values())

    def program(self, typed: TypedFunction) -> Program:
        """The program of a typed function, built at its first use."""
        found = self.programs.get(id(typed))
        if found is None:
            found = Program(typed.name, typed.file)
            self.programs[id(typed)] = found  # first, for a function that calls itself
            found.written_arguments = set(range(len(typed.argument_names)))
            Builder(self, typed, found).build()
        return found


class Builder:
    """Builds one program. Instruction tables use its public methods."""

    def __init__(self, library: Library, typed: TypedFunction, program: Program) -> None:
        self.library, self.typed, self.program = library, typed, program
        self.blocks = typed.ir.blocks
        self.typemap, self.calltypes = typed.typemap, typed.calltypes
        self.flow = ControlFlow(self.blocks)
        self.slots: dict[str, int] = {}
        self.definitions = _definitions(self.blocks)
        self.undominated = undominated(self.flow)
        self.unset = maybe_unset(self.blocks, self.undominated)
        self.spins = SpinLoops(self)
        self.returns = _return_lines(typed.py_func)
        self.first: dict[int, Segment] = {}
        self.segment: Segment = None  # type: ignore[assignment]
        self.loc: ir.Loc = typed.ir.loc
        self.stored: set[str] = set()  # variables through which memory is written
        self._none = self.constant(None)

    # What instruction tables use

    def type_of(self, variable: ir.Var | str) -> types.Type:
        """Numba type of a variable."""
        return self.typemap[variable if isinstance(variable, str) else variable.name]

    def slot(self, variable: ir.Var | str) -> int:
        """Slot of a variable, to be assigned."""
        name = variable if isinstance(variable, str) else variable.name
        found = self.slots.get(name)
        if found is None:
            initial = UNSET if name in self.undominated else None
            found = self.slots[name] = self._new_slot(name, initial)
        return found

    def read(self, variable: ir.Var | str) -> int:
        """Slot from which the current instruction reads a variable."""
        name = variable if isinstance(variable, str) else variable.name
        slot = self.slot(name)
        if name in self.unset:
            slot = self._checked(name, slot)
        self.note_read(slot)
        return slot

    def read_plain(self, variable: ir.Var) -> int:
        """As `read`; of a value that may be None, the value."""
        kind = self.type_of(variable)
        if not isinstance(kind, types.Optional):
            return self.read(variable)
        _, read = self.read_as(variable, kind.type)
        slot = self.temporary()
        self.emit(slot, read)
        return slot

    def read_as(self, variable: Any, to: types.Type) -> tuple[int, Compute]:
        """How the current instruction reads a variable or a constant, converted to a type."""
        if isinstance(variable, tuple) and any(isinstance(each, ir.Var) for each in variable):
            return self._read_star(variable, to)
        if not isinstance(variable, ir.Var):
            slot = self.constant(literal(variable, to))
            return slot, lambda group: group.slots[slot]
        slot = self.read(variable)
        convert = conversion(self.type_of(variable), to)
        if convert is None:
            return slot, lambda group: group.slots[slot]
        return slot, lambda group: convert(group.slots[slot])

    def _read_star(self, variables: tuple[ir.Var, ...], to: types.Type) -> tuple[int, Compute]:
        """The arguments that fill a device function's `*args`, as one tuple."""
        parts = [self.read_as(each, kind)[1] for each, kind in zip(variables, to, strict=True)]
        return self._none, lambda group: tuple(part(group) for part in parts)

    def note_read(self, slot: int) -> None:
        """The current instruction reads a slot."""
        if slot not in self.segment.writes:
            self.segment.reads.add(slot)

    def constant(self, value: Any) -> int:
        """A slot that holds a constant from the start of a frame."""
        return self._new_slot("", value)

    def temporary(self) -> int:
        """A slot without a variable."""
        return self._new_slot("", None)

    def emit(self, target: int, compute: Compute) -> None:
        """Add a step: `target` receives what `compute` returns; -1 for none."""
        self.segment.steps.append((target, compute))
        self.segment.lines.append(self.loc.line)
        if target >= 0:
            self.segment.writes.add(target)

    def end(self, end: Any) -> None:
        """End the segment where lanes may wait, and begin the next."""
        after = self._new_segment(self.segment.rank + 1)
        end.after = after
        self.segment.end = end
        self.segment = after

    def site(self) -> Site:
        """A new site at the current line."""
        site = Site(len(self.library.sites), self.loc.line, self.typed.file, self.typed.name)
        self.library.sites.append(site)
        return site

    def count(self, kind: str) -> None:
        """Count one operation of a kind at the current line, for the counters."""
        line = self.segment.operations.setdefault(self.loc.line, {})
        line[kind] = line.get(kind, 0) + 1

    def definition(self, variable: ir.Var | str) -> Any:
        """The IR value that a variable is assigned, through plain copies; None if there are two."""
        name = variable if isinstance(variable, str) else variable.name
        value = self.definitions.get(name)
        while isinstance(value, ir.Var):
            value = self.definitions.get(value.name)
        return value

    def refuse(self, what: str) -> errors.UnsupportedError:
        """The error for a construct that the simulator does not execute."""
        return errors.UnsupportedError(
            f"{self.typed.file.rpartition('/')[2]} line {self.loc.line}: {what}", loc=self.loc
        )

    # Building

    def build(self) -> None:
        """Fill the program."""
        program = self.program
        for label in self.flow.order:
            self.loc = self.blocks[label].body[0].loc
            self.first[label] = self._new_segment(self.flow.rank[label])
        program.argument_slots = tuple(
            self._argument(i) for i in range(len(self.typed.argument_names))
        )
        program.entry = self.first[self.flow.entry]
        program.entry_key = self.flow.entry_key()
        for label in self.flow.order:
            self._build_block(label)
        program.tracked = frozenset(
            self.slots[name] for name in self.undominated if name in self.slots
        )
        program.initial.append(None)  # slot -1: what nobody reads
        program.settle_liveness()
        program.may_spin = bool(self.spins.loops)
        aliases = Aliases(self.blocks, self.typemap)
        program.written_arguments = aliases.written(self.stored)

    def _argument(self, position: int) -> int:
        for block in self.blocks.values():
            for inst in block.find_insts(ir.Assign):
                if isinstance(inst.value, ir.Arg) and inst.value.index == position:
                    return self.slot(inst.target)
        return self.temporary()

    def _build_block(self, label: int) -> None:
        from wia_lab.simt.instructions import bind

        self.segment = self.first[label]
        block = self.blocks[label]
        for inst in block.body[:-1]:
            self.loc = inst.loc
            bind(self, inst)
        self.loc = block.terminator.loc
        self.segment.end = self._terminator(label, block.terminator)

    def _terminator(self, label: int, end: ir.Stmt) -> End:
        if isinstance(end, ir.Jump):
            return Jump(self._edge(label, end.target), self.site())
        if isinstance(end, ir.Branch):
            condition = self.slot(end.cond)
            if end.truebr == end.falsebr:
                return Jump(self._edge(label, end.truebr), self.site())
            edges = (self._edge(label, end.truebr), self._edge(label, end.falsebr))
            self.count("control")
            return Branch(condition, edges, self.site())
        if isinstance(end, ir.Return):
            explicit = self.loc.line in self.returns
            return Return(self.slot(end.value), explicit, self.site())
        from wia_lab.simt.instructions.exceptions import bind_raise

        return Raise(bind_raise(self, end), self.site())

    def _edge(self, source: int, label: int) -> Edge:
        copies = []
        for inst in self.blocks[label].find_exprs("phi"):
            target = self._phi_targets[id(inst)]
            for value, origin in zip(inst.incoming_values, inst.incoming_blocks, strict=True):
                if origin == source:
                    copies.append((self.slot(target), self._incoming(target, value)))
        spin, leaves = self.spins.edge(source, label)
        return Edge(
            self.first[label],
            self.flow.step(source, label),
            self.site(),
            tuple(copies),
            spin,
            leaves,
        )

    @property
    def _phi_targets(self) -> dict[int, str]:
        found = getattr(self, "_phis", None)
        if found is None:
            found = self._phis = {
                id(inst.value): inst.target.name
                for block in self.blocks.values()
                for inst in block.find_insts(ir.Assign)
                if isinstance(inst.value, ir.Expr) and inst.value.op == "phi"
            }
        return found

    def _incoming(self, target: str, value: Any) -> int:
        """Slot of a phi's incoming value, converted to the phi's type by a step if need be."""
        if value is ir.UNDEFINED:
            return self.constant(UNSET)
        slot = self.slot(value)
        convert = conversion(self.type_of(value), self.type_of(target))
        if convert is None:
            return slot
        converted = self.temporary()
        self.note_read(slot)

        def compute(group: Any) -> Any:
            found = group.slots[slot]
            if found is UNSET:
                return UNSET
            if isinstance(found, Partial):
                return Partial(convert(found.value), found.defined)
            return convert(found)

        self.emit(converted, compute)
        return converted

    def _checked(self, name: str, slot: int) -> int:
        """A step before this instruction that reports lanes in which the variable is unset."""
        checked, site = self.temporary(), self.site()
        zero = zero_of(self.type_of(name))
        variable = name.partition(".")[0]
        self.note_read(slot)

        def compute(group: Any) -> Any:
            value = group.slots[slot]
            if value is UNSET:
                group_missing(group, site, group.bits, variable)
                return zero
            if isinstance(value, Partial):
                missing = group.bits & ~value.defined
                if missing.any():
                    group_missing(group, site, missing, variable)
                return value.value
            return value

        self.emit(checked, compute)
        return checked

    def _new_slot(self, name: str, initial: Any) -> int:
        self.program.initial.append(initial)
        self.program.names.append(name)
        return len(self.program.initial) - 1

    def _new_segment(self, rank: int) -> Segment:
        site = Site(-1, self.loc.line, self.typed.file, self.typed.name)
        segment = Segment(len(self.program.segments), rank, site)
        self.program.segments.append(segment)
        return segment


def group_missing(group: Any, site: Site, lanes: np.ndarray, variable: str) -> None:
    """Report lanes that read a variable nobody set."""
    machine = group.machine
    machine.listeners.on_unset(site, lanes, variable)


def zero_of(numba_type: types.Type) -> Any:
    """What an unset variable of a type reads as."""
    from wia_lab.simt.semantics import dtype_of, is_number

    return dtype_of(numba_type).type(0) if is_number(numba_type) else None


def _definitions(blocks: dict[int, ir.Block]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for block in blocks.values():
        for inst in block.find_insts(ir.Assign):
            name = inst.target.name
            found[name] = None if name in found else inst.value
    return found


def _return_lines(function: Callable[..., Any]) -> set[int]:
    """Lines of the function's `return` statements; none if its source is not to be had."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):  # or text of another language
        return set()
    return {node.lineno + first - 1 for node in ast.walk(tree) if isinstance(node, ast.Return)}
