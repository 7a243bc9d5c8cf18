"""What a host answer finds in its process: few built-ins, and attributes through a guard.

The answer shares its process with the objects that it is given, and with what the judge writes
down about them. So each attribute that its text reads goes through `load`, and what it sets through
`own`: it may set what is its own, and read what the objects of others show, of their lists a copy.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import string
from _string import formatter_field_name_split  # type: ignore[import-not-found]
from collections.abc import Sequence
from types import FunctionType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

import numba.cuda

from wia_lab import cuda
from wia_lab.grading import allowed

FILE = "<answer>"
MODULE = "answer"
"""The file and the module of an answer: its functions and classes say so, and no others."""

OTHERS = ("llvmlite", "numba", "numpy", "play", "wia_lab")
"""Whose objects an answer may use and not change; `play` is what plays a script."""

BEHIND = ("wia_lab.hal.backends", "wia_lab.timeline")
"""Whose objects stand behind those that an answer is given."""

BOOKS = "wia_lab.memory"
CHANGES = ("allocate", "free", "relocate", "trim")
"""What changes a device's books beside the contexts that keep them."""

FORMATS = ("format", "format_map")
"""What of a text reads attributes that its fields name."""

TEXTS = (str, super)
"""What has them: a text, its class, and its class's view of itself."""

JITS = (cuda.jit, numba.cuda.jit)


class Guarded(ast.NodeTransformer):
    """Puts the guards into the text of an answer; a kernel's text stays, as it is interpreted."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return _call("__load__", node, value, ast.Constant(node.attr))
        guarded = ast.Attribute(_call("__own__", node, value), node.attr, node.ctx)
        return ast.copy_location(guarded, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if not any(_is_jit(decorator) for decorator in node.decorator_list):
            return self.generic_visit(node)
        node.decorator_list = [self._decorator(each) for each in node.decorator_list]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        return node

    def _decorator(self, node: ast.expr) -> ast.expr:
        """Make sure that what a kernel is handed to is a jit: anything else could run it."""
        if isinstance(node, ast.Call):
            node.func = _call("__jit__", node, self.visit(node.func))
            return node
        return _call("__jit__", node, self.visit(node))


def _is_jit(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else node
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name == "jit"


def _call(name: str, node: ast.AST, *arguments: ast.expr) -> ast.expr:
    made = ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
    return ast.fix_missing_locations(ast.copy_location(made, node))


def builtins_of_an_answer() -> dict[str, Any]:
    """Return what an answer finds as built in."""
    names = [
        name
        for name, value in vars(builtins).items()
        if name in allowed.BUILTINS or (isinstance(value, type) and issubclass(value, Exception))
    ]
    return {name: getattr(builtins, name) for name in names} | {
        "BaseException": BaseException,
        "type": TypeOf,
        "getattr": guarded_getattr,
        "hasattr": guarded_hasattr,
        "__build_class__": build_class,
        "__import__": guarded_import,
        "__load__": load,
        "__own__": own,
        "__jit__": real_jit,
    }


def is_others(value: Any) -> bool:
    """Whether a value is a module, a function, a class or an object of `OTHERS`."""
    kind = type(value)
    if issubclass(kind, ModuleType):
        return True
    if kind is FunctionType:
        return bool(value.__code__.co_filename != FILE)
    if issubclass(kind, BaseException):
        return False
    family = (*kind.__mro__, *(value.__mro__ if isinstance(value, type) else ()))
    return any(str(each.__module__).partition(".")[0] in OTHERS for each in family)


def load(value: Any, name: str) -> Any:
    """Return an attribute, as `value.name` does, if an answer may read it."""
    if name in FORMATS and issubclass(value if isinstance(value, type) else type(value), TEXTS):
        return _formatter(value, name)
    if type(value).__module__ == MODULE:
        return getattr(value, name)
    if name in allowed.FRAMES or (name.startswith("__") and name not in allowed.DUNDERS):
        _refuse(value, name)
    if not is_others(value):
        return getattr(value, name)
    if name in allowed.OF_ITS_OWN or (name.startswith("_") and name not in allowed.DUNDERS):
        _refuse(value, name)
    if name in CHANGES and type(value).__module__.startswith(BOOKS):
        _refuse(value, name)
    return _shown(value, name, getattr(value, name))


def _shown(value: Any, name: str, found: Any) -> Any:
    """Return what an attribute of others' holds, a copy where a list, mapping or set."""
    if isinstance(value, ModuleType):
        names = allowed.HOST_IMPORTS.get(value.__name__, frozenset())
        if names is not None and name not in names:
            _refuse(value, name)
    if isinstance(found, ModuleType):
        if found.__name__ not in allowed.HOST_IMPORTS:
            _refuse(value, name)
    elif type(found).__module__.startswith(BEHIND):
        _refuse(value, name)
    elif isinstance(found, list):
        return tuple(found)
    elif isinstance(found, set):
        return frozenset(found)
    elif isinstance(found, dict):
        return MappingProxyType(dict(found))
    return found


class _Fields(string.Formatter):
    """`str.format`, whose fields may read attributes: through the guard, as a dot does."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        first, rest = formatter_field_name_split(field_name)
        found = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            found = load(found, name) if is_attribute else found[name]
        return found, first


def _formatter(value: Any, name: str) -> Any:
    if not isinstance(value, str):
        _refuse(value, name)
    if name == "format_map":
        return lambda mapping: _Fields().vformat(str(value), (), mapping)
    return lambda *args, **kwargs: _Fields().vformat(str(value), args, kwargs)


def _refuse(value: Any, name: str) -> NoReturn:
    what = f"module {value.__name__}" if isinstance(value, ModuleType) else type(value).__name__
    raise AttributeError(f"an answer may not read {name} of a {what}")


def own(value: Any) -> Any:
    """Return an object of which an answer may set an attribute: one of its own, or a plain one."""
    is_class = isinstance(value, type)
    if is_others(value) or (is_class and value.__module__ != MODULE):
        what = value.__name__ if is_class else type(value).__name__
        raise AttributeError(f"an answer may not set an attribute of {what}")
    return value


def real_jit(value: Any) -> Any:
    """Return a decorator of kernels if it is one."""
    if not any(value is each for each in JITS):
        raise TypeError("a kernel is decorated with cuda.jit")
    return value


def build_class(function: Any, name: str, *bases: Any) -> Any:
    """Make a class, as the statement does, that stands in for none of the objects of others."""
    for base in bases:
        is_error = isinstance(base, type) and issubclass(base, BaseException)
        if not is_error and (is_others(base) or base is type):
            raise TypeError(f"an answer may not derive a class from {getattr(base, '__name__', 0)}")
    return builtins.__build_class__(function, name, *bases)


class _Types(type):
    """Makes `TypeOf` answer as `type` does, where an answer may ask."""

    def __call__(cls, value: Any, *more: Any) -> Any:
        if more or isinstance(value, type):
            raise TypeError("an answer makes classes with the statement class")
        return type(value)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, type)


class TypeOf(metaclass=_Types):
    """`type(value)`: the class of an object that is none itself."""


def guarded_getattr(value: Any, name: str, *default: Any) -> Any:
    """`getattr` for what an answer could also have written with a dot."""
    if type(name) is not str or name.startswith("__") or name in allowed.FRAMES:
        raise AttributeError("an answer may not read this attribute")
    try:
        return load(value, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def guarded_hasattr(value: Any, name: str) -> bool:
    """`hasattr`, with the same restriction."""
    missing = object()
    return guarded_getattr(value, name, missing) is not missing


def guarded_import(
    name: str,
    _globals: Any = None,
    _locals: Any = None,
    fromlist: Sequence[str] = (),
    level: int = 0,
) -> Any:
    """Import what an answer may import; of the standard library, its public names only."""
    allowed_names = [n for n in fromlist or () if allowed.may_import(name, n, host=True)]
    if (
        level
        or not allowed.may_import(name, None, host=True)
        or len(allowed_names) < len(fromlist or ())
    ):
        raise ImportError(f"{name} may not be imported in an answer")
    module = importlib.import_module(name)
    is_ours = name.startswith(("numba", "numpy", "wia_lab"))
    for each in fromlist or ():
        load(module, each) if is_ours else getattr(module, each)
    whole = module if fromlist else importlib.import_module(name.partition(".")[0])
    return whole if is_ours else public(whole)


def public(module: ModuleType) -> Any:
    """Return the public names of a module of the standard library, and nothing behind them."""
    table = allowed.HOST_IMPORTS[module.__name__]
    names = table or getattr(module, "__all__", None) or vars(module)
    shown = {
        name: getattr(module, name)
        for name in names
        if not name.startswith("_") and not isinstance(getattr(module, name), ModuleType)
    }
    if module.__name__ == "collections":
        shown["abc"] = public(importlib.import_module("collections.abc"))
    return SimpleNamespace(**shown)
