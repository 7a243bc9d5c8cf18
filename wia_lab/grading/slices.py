"""The statements that some names need, cut out of a module or a cell; nothing is run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable


def needed(tree: ast.Module, names: Iterable[str]) -> ast.Module:
    """Return the module with the top-level statements that `names` need, through others too.

    Line numbers are kept. Of an import, only the names needed stay.
    """
    binders = [(statement, bound(statement)) for statement in tree.body]
    wanted, todo = set(names), list(names)
    while todo:
        name = todo.pop()
        for statement, binds in binders:
            if name in binds:
                fresh = used(statement) - wanted
                wanted |= fresh
                todo += fresh
    kept: list[ast.stmt] = []
    for statement, binds in binders:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                kept.append(statement)
                continue
            aliases = [alias for alias in statement.names if bound_by(alias) in wanted]
            if aliases:
                kept.append(_import(statement, aliases))
        elif binds & wanted:
            kept.append(statement)
    return ast.Module(kept, tree.type_ignores)


def _import(statement: ast.Import | ast.ImportFrom, aliases: list[ast.alias]) -> ast.stmt:
    if isinstance(statement, ast.Import):
        fresh: ast.stmt = ast.Import(aliases)
    else:
        fresh = ast.ImportFrom(statement.module, aliases, statement.level)
    return ast.copy_location(fresh, statement)


def bound_by(alias: ast.alias) -> str:
    """Return the name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def bound(statement: ast.stmt) -> set[str]:
    """Return the names that a top-level statement binds."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {bound_by(alias) for alias in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def used(statement: ast.AST) -> set[str]:
    """Return the names that a statement reads, builtins aside."""
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return {name for name in names if not hasattr(builtins, name)}
