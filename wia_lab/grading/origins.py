"""What a kernel's cell calls when it is read: types and decorators, under no other meaning.

`from numpy import load as float32` would make `float32("/etc/passwd")` look like a constant, and
`exp = something.else` would make `exp("code")` run it. Only what a name was imported as counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from wia_lab.grading import allowed

TYPES_OF = frozenset({"numba", "numba.types", "numpy", "math"})
JITS = frozenset({"wia_lab.cuda.jit", "numba.cuda.jit", "numba.jit", "numba.njit"})
SETUP = {
    "np": "numpy",
    "types": "numba.types",
    "cuda": "wia_lab.cuda",
    "math": "math",
    "numba": "numba",
    "numpy": "numpy",
}
"""What the setup cells of the notebooks bind."""

OPTIONS = frozenset(
    [
        *["boundscheck", "cache", "debug", "device", "error_model", "fastmath", "inline"],
        *["lineinfo", "max_registers", "nogil", "nopython", "opt", "parallel"],
    ]
)
"""What a jit is told by name and does not evaluate."""

ELSEWHERE = "?"  # the origin of a name that the cell binds itself


def foreign_call(tree: ast.Module) -> ast.expr | None:
    """Return the first call or decorator, run when the cell is read, that is no type or jit."""
    origins = _origins(tree)
    for node, is_decorator in _at_once(tree):
        called = _resolved(node, origins)
        module, _, name = called.rpartition(".")
        is_type = module in TYPES_OF and (name in allowed.NUMBERS or allowed.is_math(name))
        if called not in JITS if is_decorator else not is_type:
            return node
    return None


def foreign_signature(tree: ast.Module) -> ast.expr | None:
    """Return the first argument of a jit that Numba would evaluate and that is no type.

    A signature may be a text, which Numba runs. One that stands in the decorator is read there; a
    name, or a text put together, could hold anything.
    """
    origins = _origins(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            if not isinstance(decorator, ast.Call) or not _is_jit(decorator.func):
                continue
            named = (each.value for each in decorator.keywords if each.arg not in OPTIONS)
            for argument in (*decorator.args, *named):
                if not _is_signature(argument, origins):
                    return argument
    return None


def _is_jit(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return str(name) in {"jit", "njit"}


def _is_signature(node: ast.expr, origins: dict[str, str]) -> bool:
    """Whether an expression is made of types, numbers and whole texts alone."""
    match node:
        case ast.Constant():
            return True
        case ast.Name() | ast.Attribute():
            module, _, name = _resolved(node, origins).rpartition(".")
            return module in TYPES_OF and name in allowed.NUMBERS
        case ast.Subscript(value=value, slice=index):
            return _is_signature(value, origins) and all(
                isinstance(each, (ast.Slice, ast.Tuple, ast.Constant, ast.Load))
                for each in ast.walk(index)
            )
        case ast.Call(func=function, args=parts, keywords=[]):
            return all(_is_signature(each, origins) for each in (function, *parts))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(_is_signature(each, origins) for each in parts)
    return False


def _origins(tree: ast.Module) -> dict[str, str]:
    """Return where the names of a cell's top level come from."""
    found: dict[str, str] = {}

    def bind(name: str, origin: str) -> None:
        found[name] = origin if found.get(name, origin) == origin else ELSEWHERE

    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                top = alias.name.partition(".")[0]
                bind(alias.asname or top, alias.name if alias.asname else top)
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                bind(alias.asname or alias.name, f"{statement.module}.{alias.name}")
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            bind(statement.name, ELSEWHERE)
        else:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    bind(node.id, ELSEWHERE)
    return found


def _at_once(tree: ast.Module) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what is called before any kernel runs, and whether it decorates."""
    for statement in tree.body:
        parts: list[ast.AST] = [statement]
        if isinstance(statement, ast.FunctionDef):
            parts = [*statement.args.defaults, *filter(None, statement.args.kw_defaults)]
            for decorator in statement.decorator_list:
                if isinstance(decorator, ast.Call):
                    parts += [*decorator.args, *decorator.keywords]
                    yield decorator.func, True
                else:
                    yield decorator, True
        for part in parts:
            for node in ast.walk(part):
                if isinstance(node, ast.Call):
                    yield node.func, False


def _resolved(node: ast.expr, origins: dict[str, str]) -> str:
    """Return the full name of what is called, through the cell's imports."""
    if isinstance(node, ast.Attribute):
        return f"{_resolved(node.value, origins)}.{node.attr}"
    if not isinstance(node, ast.Name):
        return ELSEWHERE
    if node.id in origins:
        return origins[node.id]
    if node.id in SETUP:
        return SETUP[node.id]
    return f"numba.{node.id}"  # from a setup cell, which imports types and jits from Numba
