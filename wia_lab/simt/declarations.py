"""Types of the device operations: the rules of numba-cuda 0.30, on `numba.core` alone.

`registry` holds them for the typing context in `frontend`. Most operations have a table of
signatures; the rest (arrays, atomics, shuffles, async copies, …) a small template each. What
numba-cuda makes an intrinsic is also known by its bare name (`from numba.cuda import grid`), all
else only as an attribute of the module: `from numba.cuda import threadIdx` is untyped there too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

from numba.core import errors, types
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.core.typing.templates import (
    AttributeTemplate,
    CallableTemplate,
    ConcreteTemplate,
    Registry,
    Signature,
    bound_function,
    signature,
)

from wia_lab.simt import stub_tables, stubs

registry = Registry()

#: Operations typed under their bare name too, as numba-cuda's intrinsics are.
BARE = (
    stubs.grid,
    stubs.gridsize,
    stubs.syncthreads,
    stubs.syncthreads_count,
    stubs.syncthreads_and,
    stubs.syncthreads_or,
    stubs.shfl_sync,
    stubs.shfl_up_sync,
    stubs.shfl_down_sync,
    stubs.shfl_xor_sync,
    stubs.all_sync,
    stubs.any_sync,
    stubs.eq_sync,
    stubs.ballot_sync,
    stubs.cg.this_grid,
    stubs.cp_async,
    stubs.cp_async_commit_group,
    stubs.cp_async_wait_group,
    stubs.cp_async_wait_all,
    stubs.copy_dram_to_sram_async,
    stubs.async_copy_wait_all,
    *stubs.cache_hints.values(),
    *stubs.vector_types.values(),
    *(getattr(stubs.libdevice, name) for name in stubs.libdevice.__members__),
    *(getattr(stubs.fp16, name) for name in stubs.fp16.__members__),
)
_BARE = frozenset(BARE)


class Dim3Type(types.Type):
    """Type of threadIdx and its like: `.x`, `.y`, `.z`, each int32."""

    def __init__(self) -> None:
        super().__init__(name="Dim3")


class GridGroupType(types.Type):
    """Type of `cg.this_grid()`."""

    def __init__(self) -> None:
        super().__init__(name="GridGroup")


class VectorType(types.Type):
    """Type of `float32x4` and its like: `count` fields of `base`, named x, y, z, w."""

    def __init__(self, name: str, base: types.Type, count: int) -> None:
        self.base = base
        self.fields = stubs.VECTOR_FIELDS[:count]
        super().__init__(name=name)


dim3 = Dim3Type()
grid_group = GridGroupType()
vector_types = {
    f"{base}x{count}": VectorType(f"{base}x{count}", getattr(types, base), count)
    for base, count in product(stub_tables.VECTOR_BASES, (1, 2, 3, 4))
}

#: Type of each stub that is a value or an operation; filled below.
STUB_TYPES: dict[object, types.Type] = dict.fromkeys(
    (stubs.threadIdx, stubs.blockIdx, stubs.blockDim, stubs.gridDim), dim3
) | dict.fromkeys((stubs.laneid, stubs.warpsize), types.int32)

#: Types of the operations that are known under their bare name too.
BARE_TYPES: dict[object, types.Type] = {}

_LETTERS = {
    "b": types.int8,
    "h": types.int16,
    "i": types.int32,
    "l": types.int64,
    "B": types.uint8,
    "H": types.uint16,
    "I": types.uint32,
    "L": types.uint64,
    "e": types.float16,
    "f": types.float32,
    "d": types.float64,
    "?": types.boolean,
    "v": types.void,
}


def _decode(code: str) -> Signature:
    """Signature of a code such as "(fi):f" (see `stub_tables`)."""
    result, _, arguments = code.partition(":")
    if result.startswith("("):
        returned: types.Type = types.Tuple([_LETTERS[letter] for letter in result[1:-1]])
    else:
        returned = _LETTERS[result]
    return signature(returned, *(_LETTERS[letter] for letter in arguments))


def _declare(stub: stubs.Stub, template: type) -> None:
    function = types.Function(template)
    STUB_TYPES[stub] = function
    registry.register(template)
    if stub in _BARE:
        BARE_TYPES[stub] = function


def _concrete(stub: stubs.Stub, cases: Iterable[Signature]) -> None:
    _declare(stub, type(stub.__name__, (ConcreteTemplate,), {"key": stub, "cases": list(cases)}))


Typer = Callable[..., "Signature | types.Type | None"]


def typed_by(*operations: stubs.Stub) -> Callable[[Typer], Typer]:
    """Type `operations` by a function of the argument types; None means that they do not fit."""

    def decorate(typer: Typer) -> Typer:
        for stub in operations:
            members = {"key": stub, "generic": lambda self: typer}
            _declare(stub, type(stub.__name__, (CallableTemplate,), members))
        return typer

    return decorate


_INTEGERS = "bhilBHIL"
_SIGNATURES: dict[stubs.Stub, list[str]] = {
    stubs.syncthreads: ["v:"],
    stubs.threadfence: ["v:"],
    stubs.threadfence_block: ["v:"],
    stubs.threadfence_system: ["v:"],
    stubs.syncwarp: ["v:", "v:i"],
    stubs.match_any_sync: ["i:ii", "i:il", "i:if", "i:id"],
    stubs.match_all_sync: ["(i?):ii", "(i?):il", "(i?):if", "(i?):id"],
    stubs.activemask: ["I:"],
    stubs.lanemask_lt: ["I:"],
    stubs.popc: [f"{kind}:{kind}" for kind in _INTEGERS],
    stubs.clz: [f"{kind}:{kind}" for kind in _INTEGERS],
    stubs.ffs: [f"I:{kind}" for kind in _INTEGERS],
    stubs.brev: ["I:I", "L:L"],
    stubs.cbrt: ["f:f", "d:d"],
    stubs.fma: ["f:fff", "d:ddd"],
    stubs.nanosleep: ["v:I"],
    stubs.cp_async_commit_group: ["v:"],
    stubs.cp_async_wait_all: ["v:"],
    stubs.async_copy_wait_all: ["v:"],
}
for _stub, _codes in _SIGNATURES.items():
    _concrete(_stub, map(_decode, _codes))
for _space, _table in ((stubs.libdevice, stub_tables.LIBDEVICE), (stubs.fp16, stub_tables.FLOAT16)):
    for _code, _names in _table.items():
        for _name in _names.split():
            _concrete(getattr(_space, _name), [_decode(_code)])


@typed_by(stubs.grid, stubs.gridsize)
def _grid(ndim: types.Type) -> Signature:
    if not isinstance(ndim, types.IntegerLiteral):
        raise errors.RequireLiteralValue(ndim)
    count = ndim.literal_value
    if count not in (1, 2, 3):
        raise ValueError("argument can only be 1, 2, 3")
    place = types.int64 if count == 1 else types.UniTuple(types.int64, count)
    return signature(place, types.int32)


@typed_by(stubs.shared.array, stubs.local.array)
def _array(
    shape: types.Type, dtype: types.Type, alignment: types.Type | None = None
) -> types.Type | None:
    if isinstance(shape, types.BaseTuple):
        constant = all(isinstance(extent, types.IntegerLiteral) for extent in shape)
    else:
        constant = isinstance(shape, types.IntegerLiteral)
    if not constant:
        return None
    if not (alignment is None or isinstance(alignment, types.IntegerLiteral | types.NoneType)):
        raise errors.RequireLiteralValue("alignment must be a constant integer")
    element, ndim = parse_dtype(dtype), parse_shape(shape)
    if element is None or ndim is None:
        return None
    return types.Array(dtype=element, ndim=ndim, layout="C")


@typed_by(stubs.const.array_like)
def _array_like(ndarray: types.Type) -> types.Type:
    return ndarray


@typed_by(stubs.syncthreads_count, stubs.syncthreads_and, stubs.syncthreads_or)
def _counted_barrier(predicate: types.Type) -> Signature | None:
    if not isinstance(predicate, types.Integer):
        return None
    return signature(types.int32, types.int32)


_SHUFFLED = (types.int32, types.int64, types.float32, types.float64)


def _shuffle(mask: types.Type, value: types.Type, lane: types.Type) -> Signature:
    if value not in _SHUFFLED:
        raise errors.TypingError("shfl_sync only supports 32- and 64-bit ints and floats")
    return signature(value, mask, value, lane)


@typed_by(stubs.shfl_sync)
def _shfl_sync(mask: types.Type, value: types.Type, src_lane: types.Type) -> Signature:
    return _shuffle(mask, value, src_lane)


@typed_by(stubs.shfl_up_sync, stubs.shfl_down_sync)
def _shfl_delta(mask: types.Type, value: types.Type, delta: types.Type) -> Signature:
    return _shuffle(mask, value, delta)


@typed_by(stubs.shfl_xor_sync)
def _shfl_xor_sync(mask: types.Type, value: types.Type, lane_mask: types.Type) -> Signature:
    return _shuffle(mask, value, lane_mask)


def _vote(stub: stubs.Stub, result: types.Type) -> None:
    @typed_by(stub)
    def vote(mask_type: types.Type, predicate_type: types.Type) -> Signature:
        if types.unliteral(mask_type) not in types.integer_domain:
            raise errors.NumbaTypeError(f"Mask type must be an integer. Got {mask_type}")
        if types.unliteral(predicate_type) not in types.integer_domain | {types.boolean}:
            raise errors.NumbaTypeError(
                f"Predicate must be an integer or boolean. Got {predicate_type}"
            )
        return signature(result, mask_type, predicate_type)


_vote(stubs.all_sync, types.boolean)
_vote(stubs.any_sync, types.boolean)
_vote(stubs.eq_sync, types.boolean)
_vote(stubs.ballot_sync, types.int32)

_SELECTED = (
    types.float64,
    types.float32,
    types.int16,
    types.uint16,
    types.int32,
    types.uint32,
    types.int64,
    types.uint64,
)


@typed_by(stubs.selp)
def _selp(test: types.Type, a: types.Type, b: types.Type, /) -> Signature | None:
    return signature(a, test, a, a) if a == b and a in _SELECTED else None


@typed_by(stubs.cg.this_grid)
def _this_grid() -> types.Type:
    return grid_group


def _constructor_cases(base: types.Type, count: int) -> Iterable[list[types.Type]]:
    """Ways to fill `count` fields from scalars and shorter vectors, numba-cuda's order."""
    if count == 0:
        yield []
    for first in range(1, count + 1):
        vector = vector_types[f"{base}x{first}"]
        for head in (base, vector) if first == 1 else (vector,):
            yield from ([head, *rest] for rest in _constructor_cases(base, count - first))


for _name, _vector in vector_types.items():
    _concrete(
        stubs.vector_types[_name],
        [
            signature(_vector, *case)
            for case in _constructor_cases(_vector.base, len(_vector.fields))
        ],
    )


@registry.register_attr
class _Dim3Attributes(AttributeTemplate):
    key = Dim3Type

    def generic_resolve(self, triple: Dim3Type, name: str) -> types.Type | None:
        return types.int32 if name in ("x", "y", "z") else None


@registry.register_attr
class _VectorAttributes(AttributeTemplate):
    key = VectorType

    def generic_resolve(self, vector: VectorType, name: str) -> types.Type | None:
        return vector.base if name in vector.fields else None


@registry.register_attr
class _GridGroupAttributes(AttributeTemplate):
    key = GridGroupType

    @bound_function("cg.GridGroup.sync")
    def resolve_sync(self, group: GridGroupType, args: tuple, kws: dict) -> Signature | None:
        return None if args or kws else signature(types.int32)


@registry.register_attr
class _IntegerAttributes(AttributeTemplate):
    key = types.Integer

    @bound_function("int.bit_count")
    def resolve_bit_count(self, value: types.Integer, args: tuple, kws: dict) -> Signature | None:
        return None if args or kws else signature(types.unliteral(value))


def _namespace(space: stubs.Namespace) -> None:
    class Attributes(AttributeTemplate):
        key = types.Module(space)

        def generic_resolve(self, module: types.Module, name: str) -> types.Type | None:
            member = getattr(space, name) if name in space.__members__ else None
            if isinstance(member, stubs.Namespace):
                return types.Module(member)
            return STUB_TYPES.get(member)

    registry.register_attr(Attributes)


for _space in (
    stubs.CUDA,
    stubs.shared,
    stubs.local,
    stubs.const,
    stubs.atomic,
    stubs.libdevice,
    stubs.fp16,
    stubs.cg,
):
    _namespace(_space)
