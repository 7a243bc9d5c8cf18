"""What an answer cell may hold: definitions, imports from a list, constants. Read, never run.

A kernel is interpreted by the simulator from its source, so that only its decorator and its
defaults are evaluated; a host answer runs in the sandbox, so its whole body is read as well.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from wia_lab.grading import allowed, identifiers, origins
from wia_lab.puzzles.puzzle import Diagnosis

LONGEST = 200_000  # characters of an answer
SIGNATURE = re.compile(r"[A-Za-z_]\w*")
SIGNS = re.compile(r"[A-Za-z0-9_\[\](),: ]*")  # Python reads many other letters as these
CONSTANT = (
    ast.Constant,
    ast.Name,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.BinOp,
    ast.UnaryOp,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Compare,
    ast.BoolOp,
    ast.IfExp,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
    ast.boolop,
)
JITS = frozenset({"cuda.jit", "numba.cuda.jit", "jit", "njit", "numba.njit", "numba.jit"})
HOST_JITS = frozenset({"cuda.jit", "numba.cuda.jit", "jit"})
MEMBERS = frozenset(
    {"staticmethod", "classmethod", "property", "dataclass", "dataclasses.dataclass"}
    | {"contextmanager", "total_ordering", "cache", "lru_cache", "functools.cache"}
)

LOCKS = frozenset(
    name
    for lock in ("Lock", "RLock", "Condition", "Semaphore")
    for name in (lock, f"threading.{lock}")
)
"""What a host answer may make when its cell is read, beside constants."""


class Refused(Exception):
    """Something that an answer may not hold, and the line of it."""

    def __init__(self, text: str, node: ast.AST | None = None, kind: str = "refused") -> None:
        super().__init__(text)
        self.line: int | None = getattr(node, "lineno", None)
        self.kind = kind


def parse(source: str) -> ast.Module:
    """Return the syntax tree of an answer.

    Raises
    ------
    Refused
        It is no Python, or too long or nested to be an answer.
    """
    if len(source) > LONGEST:
        raise Refused(
            f"the answer cell has {len(source):,} characters; at most {LONGEST:,} are read"
        )
    try:
        return ast.parse(source, "<answer>")
    except SyntaxError as error:
        fault = Refused(f"the answer cell is no Python: {error.msg}", kind="syntax")
        fault.line = error.lineno
        raise fault from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"the answer cell cannot be read ({error})", kind="syntax") from error


def refuse(source: str, *, host: bool) -> Diagnosis | None:
    """Say why an answer is not accepted; None where nothing speaks against it."""
    try:
        tree = parse(source)
        decorators = MEMBERS | _functions(tree) if host else frozenset()
        for statement in tree.body:
            _top_level(statement, decorators, host=host)
        _only_types_are_evaluated(tree)
        if host:
            _only_names_of_its_own(tree)
        else:
            _only_types_are_called(tree)
    except Refused as fault:
        where = "" if fault.line is None else f"line {fault.line}: "
        return Diagnosis(fault.kind, f"{where}{fault}", fault.line)
    except RecursionError:
        return Diagnosis("refused", "the answer is nested too deeply to be read")
    return None


def _functions(tree: ast.Module) -> frozenset[str]:
    """The functions that a cell defines: what they decorate in a host answer, they could call."""
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))


def _only_types_are_called(tree: ast.Module) -> None:
    called = origins.foreign_call(tree)
    if called is not None:
        raise Refused(
            f"{_shown(called)} is called when the cell is read, and is no type or jit as imported "
            "from wia_lab, numba, numpy or math",
            called,
        )


def _only_types_are_evaluated(tree: ast.Module) -> None:
    given = origins.foreign_signature(tree)
    if given is not None:
        raise Refused(
            f"{_shown(given)} is given to jit, which would evaluate it: write the signature there, "
            "as a text or as types imported from numba, or leave it out",
            given,
        )


def _only_names_of_its_own(tree: ast.Module) -> None:
    found = identifiers.foreign(tree)
    if found is not None:
        node, name = found
        raise Refused(f"{name} may not be used in an answer", node)


def _top_level(statement: ast.stmt, decorators: frozenset[str], *, host: bool) -> None:
    match statement:
        case ast.Import(names=names):
            for alias in names:
                _import(alias.name, None, statement, host=host)
        case ast.ImportFrom(module=module, names=names, level=level):
            for alias in names:
                _import("." * level + (module or ""), alias.name, statement, host=host)
        case ast.FunctionDef():
            _function(statement, decorators, HOST_JITS if host else JITS, host=host)
        case ast.ClassDef() if host:
            _class(statement, decorators)
        case ast.Assign(targets=targets, value=value):
            _targets(targets)
            _value(value, host=host)
        case ast.AnnAssign(target=target, value=value):
            _targets([target])
            if value is not None:
                _value(value, host=host)
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            pass
        case ast.ClassDef():
            raise Refused("a class has no place in the answer to a kernel puzzle", statement)
        case _:
            raise Refused(
                f"`{_shown(statement)}` would run when the cell is read; an answer cell holds "
                "definitions, imports and constants only: move it to a cell of its own",
                statement,
            )


def _import(module: str, name: str | None, node: ast.AST, *, host: bool) -> None:
    what = module if name is None else f"{module}.{name}"
    if name == "*" or not allowed.may_import(module, name, host=host):
        raise Refused(f"{what} may not be imported in an answer", node)


def _targets(targets: list[ast.expr]) -> None:
    for target in targets:
        for node in ast.walk(target):
            if not isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.expr_context)):
                raise Refused(f"`{_shown(target)} = …` changes something outside the cell", node)
            if isinstance(node, ast.Name) and node.id.startswith("__"):
                raise Refused(f"{node.id} may not be set in an answer", node)


def _value(value: ast.expr, *, host: bool) -> None:
    """Allow constants, and a host answer a lock of its own."""
    if host and isinstance(value, ast.Call) and _dotted(value.func) in LOCKS and not value.keywords:
        value = ast.Tuple(value.args, ast.Load())
    _constant(value)


def _constant(value: ast.AST) -> None:
    """Allow literals, names, arithmetic, and types called with constants, as in `float32(0)`."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            called = _dotted(node.func).rpartition(".")[2]
            if called not in allowed.NUMBERS and not allowed.is_math(called):
                raise Refused(f"`{_shown(node)}` is a call, and no constant", node)
        elif isinstance(node, ast.Pow) or not isinstance(node, (*CONSTANT, ast.keyword)):
            if not isinstance(node, ast.Pow):
                raise Refused(f"`{_shown(value)}` is no constant", value)
        elif isinstance(node, ast.Attribute):
            _attribute(node.attr, node)
        elif isinstance(node, ast.Name) and node.id.startswith("__"):
            raise Refused(f"{node.id} may not be used in an answer", node)
    _small(value)


def _small(value: ast.AST) -> None:
    """Refuse constants that would fill the memory while they are computed, as 9**9**9 does."""
    powers = [n for n in ast.walk(value) if isinstance(n, (ast.Pow, ast.LShift))]
    numbers = [
        n.value
        for n in ast.walk(value)
        if isinstance(n, ast.Constant) and isinstance(n.value, (int, float))
    ]
    if len(powers) > 1 or (powers and any(abs(number) > 4096 for number in numbers)):
        raise Refused(f"`{_shown(value)}` is too large for a constant", value)


def _function(
    node: ast.FunctionDef,
    decorators: frozenset[str],
    jits: frozenset[str] = frozenset(),
    *,
    host: bool,
) -> None:
    for decorator in node.decorator_list:
        _decorator(decorator, decorators | jits)
    for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
        _constant(default)
    for each in _body_nodes(node.body):
        _inside(each, decorators, host=host)


def _body_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        yield from ast.walk(statement)


def _decorator(node: ast.expr, decorators: frozenset[str]) -> None:
    name = _dotted(node.func if isinstance(node, ast.Call) else node)
    if name not in decorators:
        raise Refused(f"the decorator @{_shown(node)} is not one that an answer may use", node)
    if isinstance(node, ast.Call):
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                _signature(part)
            else:
                _constant(part)


def _signature(node: ast.Constant) -> None:
    """Numba evaluates a signature given as text: it may hold the names of types alone."""
    words = SIGNATURE.findall(str(node.value))
    foreign = any(word not in allowed.NUMBERS and word != "readonly" for word in words)
    if foreign or SIGNS.fullmatch(str(node.value)) is None:
        shown = repr(node.value)[:60]
        raise Refused(f"the signature {shown} names something that is no type", node)


def _class(node: ast.ClassDef, decorators: frozenset[str]) -> None:
    if node.keywords:
        raise Refused("a metaclass or a class keyword has no place in an answer", node)
    for base in node.bases:
        _constant(base)
    for decorator in node.decorator_list:
        _decorator(decorator, decorators)
    for statement in node.body:
        match statement:
            case ast.FunctionDef():
                _function(statement, decorators, host=True)
            case ast.ClassDef():
                _class(statement, decorators)
            case ast.Import() | ast.ImportFrom():
                _top_level(statement, decorators, host=True)
            case ast.AnnAssign(value=ast.Call(func=ast.Name(id="field"))):
                for each in ast.walk(statement):
                    _inside(each, decorators, host=True)
            case _:
                _top_level(statement, decorators, host=True)


def _inside(node: ast.AST, decorators: frozenset[str], *, host: bool) -> None:
    """Read what stands in the body of a function."""
    match node:
        case ast.Import(names=names):
            for alias in names:
                _import(alias.name, None, node, host=host)
        case ast.ImportFrom(module=module, names=names, level=level):
            for alias in names:
                _import("." * level + (module or ""), alias.name, node, host=host)
        case ast.Attribute(attr=name):
            _attribute(name, node)
        case ast.MatchClass(kwd_attrs=names):  # reads attributes too
            for name in names:
                _attribute(name, node)
        case ast.Name(id=name):
            _name(name, node, host=host)
        case ast.FunctionDef() if host:
            for decorator in node.decorator_list:
                _decorator(decorator, decorators)
        case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
            raise Refused("an answer has no use for async", node)
        case ast.ClassDef(keywords=keywords) if keywords:
            raise Refused("a metaclass or a class keyword has no place in an answer", node)


def _name(name: str, node: ast.Name, *, host: bool) -> None:
    if name.startswith("__"):
        raise Refused(f"{name} may not be used in an answer", node)
    if not host or not isinstance(node.ctx, ast.Load) or not hasattr(builtins, name):
        return
    if name not in allowed.BUILTINS and not name.endswith(("Error", "Exception", "Iteration")):
        raise Refused(f"{name} may not be used in an answer", node)


def _attribute(name: str, node: ast.AST) -> None:
    if name in allowed.FRAMES or (name.startswith("__") and name not in allowed.DUNDERS):
        raise Refused(f"the attribute {name} may not be used in an answer", node)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def _shown(node: ast.AST) -> str:
    """The source of a node, cut."""
    try:
        text = " ".join(ast.unparse(node).split())
    except ValueError:  # a number of more digits than Python writes
        return "a number of too many digits"
    return text if len(text) <= 60 else f"{text[:57]}…"
