"""A text in the kernel language to Python functions that keep its lines."""

from __future__ import annotations

import ast
import hashlib
import linecache
import math
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numba

from wia_lab import cuda
from wia_lab.hal.clike.expressions import Expressions, Function, Unit
from wia_lab.hal.clike.source import SPACES, parse
from wia_lab.hal.clike.statements import Statements, ends
from wia_lab.hal.clike.types import BOOL, SCALARS, Memory, Scalar, Type
from wia_lab.hal.clike.values import Value, converted
from wia_lab.hal.errors import KernelError

Line = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class CKernel:
    """A kernel of a text.

    Attributes
    ----------
    name : str
    function : function
        What `wia_lab.cuda` takes as a kernel; its lines are those of the text.
    parameters : tuple of (str, Scalar or Memory)
        As declared; those in `local` memory are the block's dynamic shared memory, not arguments.
    file : str
        What messages call the text.
    """

    name: str
    function: FunctionType
    parameters: tuple[tuple[str, Scalar | Memory], ...]
    file: str


def translate(source: str) -> dict[str, CKernel]:
    """All kernels of a text, by name.

    Raises
    ------
    KernelError
        With line and column, for what is outside the language.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    digest = hashlib.sha256(source.encode()).hexdigest()[:8]
    tree = parse(source, "the kernel's text")
    unit = Unit("the kernel's text")
    definitions = _collected(tree, unit)
    kernels = [each for each in unit.functions.values() if each.is_kernel]
    if not kernels:
        raise KernelError("the kernel's text has no __kernel function: mark one with __kernel")
    file = f"<{kernels[0].name}-{digest}.cl>"
    lines = [line for each in definitions for line in _function(each, unit)]
    _check_no_recursion(unit)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = _compiled(lines, file)
    for each in unit.functions.values():
        if not each.is_kernel:
            namespace[each.python_name] = cuda.jit(device=True)(namespace[each.python_name])
    return {
        each.name: CKernel(
            each.name,
            namespace[each.python_name],
            tuple((name, kind) for name, kind in each.parameters if kind is not None),
            file,
        )
        for each in kernels
    }


def _collected(tree: Any, unit: Unit) -> list[Any]:
    """Enter all that the text declares; its functions' definitions in order."""
    names = Expressions(unit)
    definitions = []
    for node in tree.ext:
        kind = type(node).__name__
        if kind == "FuncDef":
            if node.decl.name in unit.functions:
                raise unit.error(node, f"{node.decl.name} is defined twice")
            unit.functions[node.decl.name] = _head(node, unit, names)
            definitions.append(node)
        elif kind == "Decl" and type(node.type).__name__ == "TypeDecl":
            _constant(node, unit)
        elif kind == "Typedef" and node.coord.file != "k":
            continue  # ours, of the shorthands
        elif kind != "Decl" or type(node.type).__name__ != "FuncDecl":
            raise unit.error(
                node, "outside functions the kernel language has functions and constant numbers"
            )
    return definitions


def _constant(node: Any, unit: Unit) -> None:
    """`__constant int RADIUS = 2;`."""
    names = Expressions(unit)
    kind = names.type_of(node.type)
    is_fixed = "const" in node.quals or any(SPACES.get(q) == "constant" for q in node.quals)
    if kind is None or node.init is None or not is_fixed:
        raise unit.error(node, f"{node.name}: outside functions write __constant, and its value")
    value = converted(names.number(node.init), kind)
    unit.constants[node.name] = value


def _head(node: Any, unit: Unit, names: Expressions) -> Function:
    declared = node.decl
    is_kernel = "inline" in declared.funcspec
    result = names.type_of(declared.type.type)
    if is_kernel and result is not None:
        raise unit.error(node.decl, f"{declared.name} is a kernel: its type is void")
    reader = Expressions(unit)
    parameters = tuple(_parameter(each, unit, reader) for each in _given(node))
    locals_ = [n for n, k in parameters if isinstance(k, Memory) and k.space == "local"]
    if is_kernel and len(locals_) > 1:
        raise unit.error(
            declared, f"{declared.name} has {len(locals_)} __local parameters: one is possible"
        )
    return Function(declared.name, names.fresh(declared.name), result, parameters, is_kernel)


def _given(node: Any) -> list[Any]:
    """The parameters of a definition."""
    arguments = node.decl.type.args
    return [each for each in (arguments.params if arguments else []) if not _is_void(each)]


def _check_no_recursion(unit: Unit) -> None:
    """Refuse a function that comes to itself again: a device has no stack to count on."""
    for name in unit.calls:
        ways = [(called, place) for called, place in unit.calls[name].items()]
        seen: set[str] = set()
        while ways:
            called, place = ways.pop()
            if called == name:
                raise unit.error(place, f"{name} calls itself here: use a loop instead")
            if called not in seen:
                seen.add(called)
                ways += [(each, place) for each in unit.calls.get(called, {})]


def _is_void(node: Any) -> bool:
    names = getattr(getattr(node, "type", None), "type", None)
    return type(node).__name__ == "Typename" and getattr(names, "names", None) == ["void"]


def _parameter(node: Any, unit: Unit, reader: Expressions) -> tuple[str, Type]:
    if getattr(node, "name", None) is None or not hasattr(node, "type"):
        raise unit.error(node, "a parameter has a type and a name, as in int n")
    shape = node.type
    if type(shape).__name__ == "TypeDecl":
        kind = reader.type_of(shape)
        if kind is None:
            raise unit.error(node, f"{node.name} cannot be void")
        return node.name, kind
    inner = shape.type
    if type(inner).__name__ != "TypeDecl":
        raise unit.error(node, f"{node.name}: a pointer to numbers is one pointer, no array of any")
    kind = reader.type_of(inner)
    if kind is None or kind is BOOL:
        raise unit.error(node, f"{node.name}: a pointer is to numbers of a known size")
    spaces = [SPACES[each] for each in node.quals if each in SPACES]
    space = spaces[0] if spaces else "private"
    is_const = "const" in node.quals or space == "constant"
    return node.name, Memory(kind, space, 1, is_const)


def _function(node: Any, unit: Unit) -> list[Line]:
    """The lines of one function."""
    head = unit.functions[node.decl.name]
    body = Statements(unit, head.name, head.result)
    body.names |= {each.python_name for each in unit.functions.values()}
    body.line = node.decl.coord.line
    body.scopes.append({})
    arguments = []
    constant = {each.name for each in _given(node) if "const" in getattr(each.type, "quals", ())}
    for name, kind in head.parameters:
        is_const = name in constant and isinstance(kind, Scalar)
        python = body.declared(node.decl, name, Value("", kind), is_const=is_const)
        if isinstance(kind, Memory) and kind.space == "private" and head.is_kernel:
            raise unit.error(node.decl, f"{name}: a kernel's pointer is __global or __constant")
        if isinstance(kind, Memory) and kind.space == "local" and head.is_kernel:
            body.emit(f"{python} = cuda.shared.array(0, {kind.element.cast})")
        else:
            arguments.append(python)
    for each in node.body.block_items or []:  # in the parameters' own scope, as C has it
        body.statement(each)
    if head.result is not None and not ends(node.body):
        raise unit.error(node.decl, f"{head.name} can end without its return: return on every way")
    line = node.decl.coord.line
    empty = [] if body.lines else [(1, "pass", line)]
    return [(0, f"def {head.python_name}({', '.join(arguments)}):", line), *body.lines, *empty]


def _compiled(lines: list[Line], file: str) -> dict[str, Any]:
    """Run the lines as a module whose code names the text's lines."""
    tree = ast.parse("\n".join("    " * depth + text for depth, text, _ in lines))
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword):
            node.lineno = node.end_lineno = lines[node.lineno - 1][2]
            node.col_offset = node.end_col_offset = 0
    namespace: dict[str, Any] = {"cuda": cuda, "math": math, "bool": bool}
    for each in SCALARS.values():
        if each is not BOOL:
            namespace[each.cast] = getattr(numba, each.cast)
    exec(compile(tree, file, "exec"), namespace)  # noqa: S102 - our own text
    return namespace
