"""The typing context of kernels: which names have which types, under numba-cuda's rules.

Numba keeps the declarations of all its targets in one builtin registry, to which the CPU target
adds as it is loaded. Admitted from it is what numba-cuda declares as well, and what third parties
declare for GPUs or for every target, so types do not depend on what else a process has compiled.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numba
from numba.core import errors, types
from numba.core.target_extension import CUDA, target_registry
from numba.core.typing import cffi_utils, cmathdecl, enumdecl, npydecl
from numba.core.typing.context import BaseContext
from numba.core.typing.templates import RegistryLoader, builtin_registry
from numba.misc.special import literal_unroll

from wia_lab.simt import declarations, declarations_math, declarations_memory, stubs  # noqa: F401

TARGET = "wia_lab_simt"

#: Modules of Numba whose declarations numba-cuda has too, under the same tail of the name.
_SHARED = (
    "abc",
    "numba.core.typing.",
    "numba.core.extending",
    "numba.core.inline_closurecall",
    "numba.core.unsafe.",
    "numba.cpython.builtins",
    "numba.cpython.charseq",
    "numba.cpython.cmathimpl",
    "numba.cpython.enumimpl",
    "numba.cpython.listobj",
    "numba.cpython.mathimpl",
    "numba.cpython.numbers",
    "numba.cpython.rangeobj",
    "numba.cpython.slicing",
    "numba.cpython.tupleobj",
    "numba.cpython.unicode",
    "numba.cpython.unsafe.",
    "numba.misc.literal",
    "numba.np.arraymath",
    "numba.np.arrayobj",
    "numba.np.npdatetime",
    "numba.np.npyfuncs",
    "numba.np.npyimpl",
    "numba.np.polynomial",
    "numba.np.unsafe.",
)

#: Texts of numbers, which the device cannot make.
_TEXTS = frozenset({"integer_str", "integer_repr", "boolean_str"})

#: Typed functions that Numba loads late, and what in an error message says they may be wanted.
_LATE = {
    re.compile(r"of type array\(|NumPy function|<function \w+ at"): ("numba.np.arraymath",),
    re.compile(r"'cmath'"): ("numba.cpython.cmathimpl",),
    re.compile(r"<class '(range|tuple)'>|Tuple"): (
        "numba.cpython.tupleobj",
        "numba.cpython.rangeobj",
    ),
}

_CUDA_MODULES = ("wia_lab.cuda", "numba.cuda")


class SimtTarget(CUDA):
    """The simulator as a Numba target: overloads for CUDA, GPU and every target apply."""


target_registry[TARGET] = SimtTarget


def namespace_of(module: ModuleType) -> stubs.Namespace | None:
    """What a kernel means by `module`, if that is wia_lab.cuda, numba.cuda or a part of one."""
    for root in _CUDA_MODULES:
        if module.__name__ == root:
            return stubs.CUDA
        if module.__name__.startswith(root + "."):
            return stubs.MODULES.get(module.__name__.removeprefix(root + "."))
    return None


class TypingContext(BaseContext):
    """Types of values and functions as a kernel sees them.

    `device_function` makes the type of a function that has Python source; it is the front end's,
    which types that source with this context.
    """

    device_function: Callable[[object], types.Type]

    def load_additional_registries(self) -> None:
        """Load the device's declarations."""
        self.install_registry(declarations.registry)
        self.install_registry(declarations_math.registry)
        self.install_registry(cffi_utils.registry)
        self.install_registry(cmathdecl.registry)
        self.install_registry(enumdecl.registry)
        self.install_registry(npydecl.registry)

    def _load_builtins(self) -> None:
        from numba.core.typing import arraydecl, bufproto, builtins, ctypes_utils  # noqa: F401
        from numba.core.unsafe import eh  # noqa: F401
        from numba.misc import literal  # noqa: F401

        loader = self._registries.setdefault(builtin_registry, RegistryLoader(builtin_registry))
        for template in loader.new_registrations("functions"):
            if _admitted(template):
                self.insert_function(template(self))
        for template in loader.new_registrations("attributes"):
            if _admitted(template):
                self.insert_attributes(template(self))
        for value, kind in loader.new_registrations("globals"):
            if not all(map(_admitted, getattr(kind, "templates", ()))):
                continue
            known = self._lookup_global(value)
            if known is None:
                self.insert_global(value, kind)
            elif (augmented := known.augment(kind)) is not None:
                self._remove_global(value)
                self._insert_global(value, augmented)

    def resolve_value_type(self, val: object) -> types.Type:
        """Type of a global, a closure value or a module's attribute; ValueError if it has none."""
        if isinstance(val, ModuleType) and (space := namespace_of(val)) is not None:
            return types.Module(space)
        stub = stub_of(val)
        if stub is not None:
            if stub in declarations.BARE_TYPES:
                return declarations.BARE_TYPES[stub]
            name = getattr(stub, "__qualname__", stub.__name__.removeprefix("cuda."))
            raise ValueError(f"it is known only as an attribute: write cuda.{name}")
        py_func = getattr(val, "py_func", None)
        if isinstance(py_func, FunctionType) and callable(val):
            return self.device_function(val)
        return super().resolve_value_type(val)

    def resolve_module_constants(self, typ: types.Module, attr: str) -> types.Type | None:
        """Type of a module's attribute; what is no stub is asked of the module in use."""
        if typ.pymod is numba and attr == "cuda":  # whether or not it has been imported
            return types.Module(stubs.CUDA)
        if not isinstance(typ.pymod, stubs.Namespace):
            return super().resolve_module_constants(typ, attr)
        if typ.pymod is stubs.CUDA:
            if attr == "literal_unroll":
                return super().resolve_value_type(literal_unroll)
            for module in filter(None, map(sys.modules.get, _CUDA_MODULES)):
                if hasattr(module, attr):
                    return self._of_module(attr, getattr(module, attr))
        return getattr(typ.pymod, attr)  # AttributeError, as for a module's missing name

    def _of_module(self, name: str, value: object) -> types.Type:
        """Type of `cuda.name`; TypingError for what only the host has, such as `cuda.to_device`."""
        try:
            return self.resolve_value_type(value)
        except ValueError as error:
            raise errors.TypingError(
                f"cuda.{name} is for the host: call it before or after the launch, not in a kernel"
            ) from error

    def can_convert(self, fromty: types.Type, toty: types.Type) -> object:
        """How `fromty` converts to `toty`, None if it does not (an IntEnum's member included)."""
        try:
            return super().can_convert(fromty, toty)
        except TypeError:
            if isinstance(fromty, types.IntEnumMember):
                return None
            raise


def load_late(message: str) -> bool:
    """Load declarations that an error's message calls for; whether there were new ones."""
    wanted = [name for pattern, names in _LATE.items() if pattern.search(message) for name in names]
    missing = [name for name in wanted if name not in sys.modules]
    for name in missing:
        importlib.import_module(name)
    return bool(missing)


def _admitted(template: type) -> bool:
    """Whether a declaration of the builtin registry holds on the device."""
    written = getattr(template, "_overload_func", None) or getattr(
        template, "_definition_func", None
    )
    source: Any = template if written is None else written
    module = source.__module__ or "numba."  # Numba generates a few from text
    if source.__name__ in _TEXTS and module == "numba.cpython.unicode":
        return False
    if module.startswith("numba.") and not module.startswith(_SHARED):
        return False
    target = (getattr(template, "metadata", None) or {}).get("target")
    if target is None:
        return True
    try:
        return SimtTarget.inherits_from(target_registry[target])
    except errors.NonexistentTargetError:
        return False


_known_stubs: dict[int, tuple[object, stubs.Stub | stubs.Namespace]] = {}
_learned: set[str] = set()


def stub_of(value: object) -> stubs.Stub | stubs.Namespace | None:
    """The stub that a value stands for: itself, or numba.cuda's object of that name."""
    if isinstance(value, stubs.Stub | stubs.Namespace):
        return value
    for tail, space in stubs.MODULES.items():
        name = f"numba.cuda.{tail}".rstrip(".")
        if name in sys.modules and name not in _learned:
            _learned.add(name)
            _learn(sys.modules[name], space)
    known = _known_stubs.get(id(value))
    return known[1] if known is not None and known[0] is value else None


def _learn(module: object, space: stubs.Namespace) -> None:
    for name in space.names():
        value = getattr(module, name, None)
        if value is None or isinstance(value, ModuleType):
            continue
        member = getattr(space, name)
        _known_stubs[id(value)] = (value, member)
        if isinstance(member, stubs.Namespace):
            _learn(value, member)
