"""Whether what a learner hands to `check` is a kernel that can be launched at all.

Everything here is found before the first launch, so that the usual slips (a stub left as it was, a
forgotten decorator, cells run out of order) get one sentence each and not a compiler's traceback.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import textwrap
from types import FunctionType
from typing import TYPE_CHECKING, Any

from wia_lab.puzzles.puzzle import Diagnosis
from wia_lab.puzzles.slips import plain_slip
from wia_lab.simt.frontend import is_for_cpu
from wia_lab.simt.spelling import meant
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.puzzles.puzzle import Puzzle


class RefusedError(Exception):
    """An answer that cannot be judged further; carries the diagnosis."""

    def __init__(self, kind: str, text: str, line: int | None = None) -> None:
        super().__init__(text)
        self.diagnosis = Diagnosis(kind, text, line)


def kernel_function(puzzle: Puzzle, answer: object) -> FunctionType:
    """Return the plain Python function of an answer, or say why there is none.

    Raises
    ------
    RefusedError
        With kind not-a-kernel, arity, duplicate, undefined-name, stub or typing (a value returned).
    """
    function = _python_function(puzzle, answer)
    _refuse_signature(puzzle, function)
    source = _source(function)
    if source is not None:
        _refuse_stub(puzzle, function, source)
        _refuse_duplicate(puzzle, function)
    _refuse_undefined(function)
    return function


def _python_function(puzzle: Puzzle, answer: object) -> FunctionType:
    name = puzzle.function
    function = getattr(answer, "py_func", None)
    if isinstance(function, FunctionType):
        if is_for_cpu(answer):
            line = function.__code__.co_firstlineno
            _not_a_kernel(f"Numba compiles {name} for the CPU: write @cuda.jit above it", line)
        options = getattr(answer, "targetoptions", {})
        if getattr(answer, "is_device", False) or options.get("device"):
            _not_a_kernel(f"{name} is a device function: write @cuda.jit without device=True")
        return function
    if isinstance(answer, FunctionType):
        line = answer.__code__.co_firstlineno
        _not_a_kernel(f"{name} is a plain Python function: add @cuda.jit above def {name}", line)
    if answer is None or answer is Ellipsis:
        _not_a_kernel(
            f"the check got {answer!r} instead of a kernel: run the cell that defines {name}, "
            f'then check("{puzzle.id}", {name}) with no parentheses after {name}'
        )
    if any(hasattr(answer, name) for name in ("kernel", "dispatcher", "griddim")):
        _not_a_kernel(f"pass {name} without [grid, block]: the check chooses its own launches")
    _not_a_kernel(
        f"the check got {_kind(answer)} instead of a kernel: "
        f"pass the function {name} that stands under @cuda.jit"
    )
    raise AssertionError


def _not_a_kernel(text: str, line: int | None = None) -> None:
    raise RefusedError("not-a-kernel", text, line)


def _kind(answer: object) -> str:
    name = type(answer).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _refuse_signature(puzzle: Puzzle, function: FunctionType) -> None:
    """Refuse another number of parameters, or the right names in another order."""
    names = tuple(inspect.signature(function).parameters)
    line = function.__code__.co_firstlineno
    if len(names) != len(puzzle.signature):
        raise RefusedError(
            "arity",
            f"{function.__name__}({', '.join(names)}) has "
            f"{counted(len(names), 'parameter')}, but the check calls "
            f"{puzzle.usage}: write def {puzzle.usage}:",
            line,
        )
    if set(names) == set(puzzle.signature) and names != puzzle.signature:
        raise RefusedError(
            "arity",
            f"{function.__name__}({', '.join(names)}) has its parameters in another order than "
            f"the check passes them: write def {puzzle.usage}:",
            line,
        )


def _source(function: FunctionType) -> str | None:
    """Source of the definition; None where Python does not have it (typed at a bare prompt)."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError, IndentationError):
        return None


def _refuse_stub(puzzle: Puzzle, function: FunctionType, source: str) -> None:
    """Refuse a body that stores nothing and calls nothing for its effect: nobody filled it in.

    One that hands a value back instead is told so: it was filled in as a function would be.
    """
    [definition, *_] = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    nodes = [node for statement in definition.body for node in ast.walk(statement)]
    is_begun = any(map(_has_effect, nodes))
    left = next((n for n in nodes if isinstance(n, ast.Raise) and raises_stub(n)), None)
    if left is not None and is_begun:
        line = function.__code__.co_firstlineno + left.lineno - 1
        raise RefusedError(
            "stub",
            f"line {line} still raises NotImplementedError, as the stub did: delete that line, "
            "your answer stands beside it",
            line,
        )
    handed = next((n for n in nodes if isinstance(n, ast.Return) and _hands_back(n)), None)
    if left is None and not is_begun and handed is not None:
        line = function.__code__.co_firstlineno + handed.lineno - 1
        raise RefusedError(
            "typing",
            f"line {line} returns a value, and nobody receives what a kernel returns: each thread "
            "stores its result in an element of the output, with =",
            line,
        )
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    renamed = next((n for n in nodes if isinstance(n, ast.Name) and _binds(n, names)), None)
    if left is None and not is_begun and renamed is not None:
        line = function.__code__.co_firstlineno + renamed.lineno - 1
        raise RefusedError(
            "typing",
            f"line {line} gives the name {renamed.id} to another value, and the array stays as it "
            f"was: each thread stores its result in an element, as in {renamed.id}[i] = …",
            line,
        )
    idle = plain_slip(function)
    if left is None and not is_begun and idle is not None:
        raise RefusedError("typing", idle.sentence, idle.line)
    if left is not None or not is_begun:
        raise RefusedError(
            "stub",
            f"{puzzle.function} is still the stub: write your answer where it says YOUR CODE HERE, "
            f'under that name, and run its cell, or ask hint("{puzzle.id}").',
            function.__code__.co_firstlineno,
        )


def _has_effect(node: ast.AST) -> bool:
    """A store into an array, a call that is a statement of its own, or a loop on a condition."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, ast.While) or (
        isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    )


def _binds(node: ast.Name, names: tuple[str, ...]) -> bool:
    """An assignment to one of the names."""
    return isinstance(node.ctx, ast.Store) and node.id in names


def _hands_back(node: ast.Return) -> bool:
    """A return of anything but None."""
    return node.value is not None and not (
        isinstance(node.value, ast.Constant) and node.value.value is None
    )


def raises_stub(node: ast.AST) -> bool:
    """`raise NotImplementedError`, with or without parentheses: nbgrader's own stub."""
    if not isinstance(node, ast.Raise):
        return False
    what = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(what, ast.Name) and what.id == "NotImplementedError"


def _refuse_duplicate(puzzle: Puzzle, function: FunctionType) -> None:
    """Refuse a cell that defines the kernel twice: a learner then edits the one that loses."""
    lines, _ = inspect.findsource(function)
    tree = ast.parse("".join(lines))
    same = [
        node.lineno
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__
    ]
    if len(same) > 1:
        raise RefusedError(
            "duplicate",
            f"{puzzle.function} is defined on lines {' and '.join(map(str, same))} of one cell, "
            "and only the last counts: keep one",
            same[-1],
        )


def _refuse_undefined(function: FunctionType) -> None:
    """Refuse a name that no cell has defined yet."""
    line = function.__code__.co_firstlineno
    for instruction in dis.get_instructions(function):
        line = _line_of(instruction) or line
        name = instruction.argval
        if instruction.opname != "LOAD_GLOBAL" or name in function.__globals__:
            continue
        if not hasattr(builtins, name):
            near = meant(name, function)
            slip = f"did you mean {near}? If not, " if near else ""
            raise RefusedError(
                "undefined-name",
                f"line {line}: {name} is not defined: {slip}run the cells above this one first "
                f"(Run > Run All Above Selected Cell), or define {name} before the kernel runs",
                line,
            )


def _line_of(instruction: dis.Instruction) -> int | None:
    positions: Any = instruction.positions
    return positions.lineno if positions else None
