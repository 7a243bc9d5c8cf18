"""Device functions: typing Python source, once for each set of argument types."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature as python_signature
from types import FunctionType
from typing import Any, ClassVar

from numba.core import compiler, errors, ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.target_extension import dispatcher_registry, jit_registry, target_override
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NopythonTypeInference
from numba.core.typing.templates import Signature, fold_arguments, make_concrete_template, signature
from numba.core.untyped_passes import IRProcessing
from numba.misc.special import literal_unroll

from wia_lab.simt import declarations_arrays, normal_form, refusals  # noqa: F401
from wia_lab.simt.snapshots import Declared, declared, token
from wia_lab.simt.typing_context import TARGET, SimtTarget, TypingContext

_FUNCTIONS_KEPT = 512


@dataclass(frozen=True, eq=False)
class TypedFunction:
    """A function for one set of argument types: its IR in SSA form and the type of each variable.

    `ir.blocks` maps labels to blocks; phis are `ir.Expr` with op "phi". `calltypes` maps calls,
    operators, getitem and setitem statements to the signature chosen.
    """

    name: str
    file: str
    line: int  # of the def statement
    py_func: FunctionType
    ir: ir.FunctionIR
    typemap: dict[str, types.Type]
    calltypes: dict[object, Signature]
    argument_names: tuple[str, ...]
    argument_types: tuple[types.Type, ...]
    return_type: types.Type

    def __repr__(self) -> str:
        given = ", ".join(map(str, self.argument_types))
        return f"<TypedFunction {self.name}({given}) -> {self.return_type}>"


@dataclass(frozen=True)
class _Descriptor:
    """What Numba's recursive calls ask of a finished overload."""

    modname: str
    qualname: str
    uid: int


@dataclass(frozen=True)
class _Overload:
    fndesc: _Descriptor
    signature: Signature


class DeviceFunctionType(types.Dispatcher):
    """Type of a device function; holds it, as Numba's own dispatcher types do not."""

    def _store_object(self, obj: DeviceFunction) -> None:
        self._function = obj

    def _get_object(self) -> DeviceFunction:
        return self._function

    @property
    def key(self) -> DeviceFunction:
        """Equal types are the same function."""
        return self._function

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceFunctionType) and other._function is self._function

    def __hash__(self) -> int:
        return hash(self._function)

    def unify(self, typingctx: TypingContext, other: types.Type) -> types.Type | None:
        """Numba's function type for either of two functions, which `refusals` then refuses."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.NumbaExperimentalFeatureWarning)
            return super().unify(typingctx, other)

    def specialise(self, argument_types: tuple[types.Type, ...]) -> TypedFunction:
        """The function typed for `argument_types`, as in a call's signature."""
        return self._function.specialise(argument_types)


class DeviceFunction:
    """A Python function as the device sees it; what Numba calls a dispatcher.

    `declared` are the signatures that it was decorated with; if there are any, calls convert their
    arguments to one of them.
    """

    def __init__(self, py_func: FunctionType, signatures: tuple[Declared, ...] = ()) -> None:
        self.py_func = py_func
        self.declared = signatures
        self.pysig = python_signature(py_func)
        self.overloads: dict[tuple[types.Type, ...], _Overload] = {}
        self.is_compiling = 0
        self._typed: dict[tuple[tuple[types.Type, ...], types.Type | None], TypedFunction] = {}

    def __repr__(self) -> str:
        return f"device function {self.py_func.__qualname__}"

    @property
    def _compiler(self) -> _InlineCompiler:
        return _InlineCompiler()

    @property
    def _numba_type_(self) -> DeviceFunctionType:
        return DeviceFunctionType(self)

    @property
    def nopython_signatures(self) -> list[Signature]:
        """Signatures typed so far."""
        return [
            signature(typed.return_type, *typed.argument_types) for typed in self._typed.values()
        ]

    def fold_argument_types(
        self, args: tuple[types.Type, ...], kws: dict[str, types.Type]
    ) -> tuple[object, tuple[types.Type, ...]]:
        """Python signature, and the argument types in its order with defaults as Omitted."""
        folded = fold_arguments(
            self.pysig,
            args,
            kws,
            lambda index, param, value: value,
            lambda index, param, default: types.Omitted(default),
            lambda index, param, values: types.StarArgTuple(values),
        )
        return self.pysig, folded

    def get_call_template(
        self, args: tuple[types.Type, ...], kws: dict[str, types.Type]
    ) -> tuple[type, object, tuple[types.Type, ...], dict]:
        """Numba's question about a call: type it, answer with a template of all signatures."""
        pysig, folded = self.fold_argument_types(args, kws)
        if self.declared and not self.is_compiling:
            for each in self.declared:
                self._specialise(each.arguments, each.result)
        else:
            self.specialise(tuple(folded))
        name = self.py_func.__name__
        template = make_concrete_template(
            f"CallTemplate({name})", key=name, signatures=self.nopython_signatures
        )
        return template, pysig, folded, {}

    def get_function_type(self) -> None:
        """No function type: which one is called must be known."""

    def get_overload(self, argument_types: tuple[types.Type, ...]) -> TypedFunction:
        """The function typed for `argument_types`."""
        return self.specialise(tuple(argument_types))

    def specialise(
        self, argument_types: tuple[types.Type, ...], *, kernel: bool = False
    ) -> TypedFunction:
        """Type the function for `argument_types`; raises Numba's errors.

        A kernel must return nothing.
        """
        return self._specialise(argument_types, types.none if kernel else None)

    def _specialise(
        self, argument_types: tuple[types.Type, ...], return_type: types.Type | None
    ) -> TypedFunction:
        key = (argument_types, return_type)
        if key in self._typed:
            return self._typed[key]
        self.is_compiling += 1
        try:
            typed = _type(self.py_func, argument_types, return_type)
        finally:
            self.is_compiling -= 1
        self._typed[key] = typed
        if return_type is not None:  # calls ask by argument types alone
            self._typed.setdefault((argument_types, None), typed)
        self.overloads[argument_types] = _Overload(
            _Descriptor(self.py_func.__module__, typed.name, typed.ir.func_id.unique_id),
            signature(typed.return_type, *argument_types),
        )
        return typed


_functions: dict[object, tuple[DeviceFunction, list[object]]] = {}


def device_function(function: Any) -> DeviceFunction:
    """The device function of a Python function, or of an object that holds one as `.py_func`.

    It has the globals and closure values that the function has now. ValueError for a function
    that @njit compiled for given signatures only, as numba-cuda raises.
    """
    held: list[object] = []
    key = token(function, held, [])
    if key not in _functions:
        # One that is being typed must be found again by those it calls, or it cannot call itself
        if len(_functions) >= _FUNCTIONS_KEPT and not any(
            kept.is_compiling for kept, _ in _functions.values()
        ):
            _functions.clear()
        source = getattr(function, "py_func", function)
        _functions[key] = (DeviceFunction(source, declared(function)), held)
    return _functions[key][0]


class _LoweringRegistry:
    """Takes the code generators of intrinsics and overloads, which nobody here runs."""

    def lower(self, *key: object) -> object:
        """Numba's decorator; gives the function back."""
        return lambda function: function

    lower_getattr = lower_getattr_generic = lower_setattr = lower_cast = lower


class _TargetContext:
    """What Numba's passes ask of a code generator: that it has no reference counts."""

    target = SimtTarget
    enable_nrt = False
    call_conv = None

    def __init__(self) -> None:
        self._registries = {_LoweringRegistry(): None}

    def refresh(self) -> None:
        """There is nothing to load."""

    def subtarget(self, **options: object) -> _TargetContext:
        """Options concern code generation."""
        return self


class _Description:
    typing_context = TypingContext()
    target_context = _TargetContext()


@register_pass(mutates_CFG=False, analysis_only=False)
class _CommonNames(FunctionPass):
    """Let numba.cuda's own `literal_unroll` be Numba's, which the passes below know."""

    _name = "wia_lab_common_names"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: compiler.StateDict) -> bool:
        changed = False
        for block in state.func_ir.blocks.values():
            for statement in block.find_insts(ir.Assign):
                value = statement.value
                if (
                    isinstance(value, ir.Global | ir.FreeVar)
                    and getattr(value.value, "__name__", "") == "literal_unroll"
                    and value.value.__module__.startswith("numba.")
                ):
                    value.value, changed = literal_unroll, True
        return changed


def typing_context() -> TypingContext:
    """The typing context of all kernels."""
    return _Description.typing_context


class _Pipeline(CompilerBase):
    """Numba's passes as far as type inference."""

    def define_pipelines(self) -> list[PassManager]:
        """One pipeline, named as numba-cuda's is in error messages."""
        manager = PassManager("cuda")
        manager.passes.extend(DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        manager.add_pass_after(_CommonNames, IRProcessing)
        manager.add_pass(NopythonTypeInference, "nopython frontend")
        manager.finalize()
        return [manager]

    def _compile_core(self) -> compiler.StateDict:
        with ConfigStack().enter(self.state.flags.copy()):
            [manager] = self.define_pipelines()
            manager.run(self.state)
        return self.state


class _InlineCompiler:
    """What Numba asks of a dispatcher whose function it means to inline."""

    targetdescr = _Description
    pipeline_class = _Pipeline
    locals: ClassVar[dict[str, types.Type]] = {}


class _SimtDispatcher:
    targetdescr = _Description


def _jit(**options: object) -> object:
    """How Numba compiles the implementation of an overload for this target: by typing it."""
    return device_function


dispatcher_registry[SimtTarget] = _SimtDispatcher
jit_registry[SimtTarget] = _jit
_Description.typing_context.device_function = lambda function: DeviceFunctionType(
    device_function(function)
)


def _flags() -> compiler.Flags:
    flags = compiler.Flags()
    flags.nrt = False
    flags.error_model = "numpy"
    return flags


@contextmanager
def _device_flags() -> Iterator[compiler.Flags]:
    flags = _flags()
    with target_override(TARGET):
        yield flags


def _type(
    py_func: FunctionType, argument_types: tuple[types.Type, ...], return_type: types.Type | None
) -> TypedFunction:
    with _device_flags() as flags:
        pipeline = _Pipeline(
            _Description.typing_context,
            _Description.target_context,
            None,
            argument_types,
            return_type,
            flags,
            {},
        )
        state = pipeline.compile_extra(py_func)
    identity = state.func_id
    typed = TypedFunction(
        name=py_func.__qualname__.rpartition("<locals>.")[2],
        file=identity.filename,
        line=identity.firstlineno,
        py_func=py_func,
        ir=state.func_ir,
        typemap=state.typemap,
        calltypes=state.calltypes,
        argument_names=tuple(state.func_ir.arg_names),
        argument_types=tuple(argument_types),
        return_type=state.return_type,
    )
    normal_form.spread(typed)
    refusals.check(typed)
    normal_form.freeze(typed)
    return typed
