"""The names in a host answer, wherever Python's grammar takes one: none leads past its guards."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from wia_lab.grading import allowed


def foreign(tree: ast.AST) -> tuple[ast.AST, str] | None:
    """Return the first node that names what an answer may not, and what that is."""
    for node in ast.walk(tree):
        for name in _bound(node):
            is_method = isinstance(node, ast.FunctionDef) and name in allowed.METHODS
            if name.startswith("__") and not is_method:
                return node, name
        if isinstance(node, ast.MatchClass) and (node.patterns or node.kwd_attrs):
            return node, "a pattern that reads attributes"
    return None


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds elsewhere than in an `ast.Name`."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
