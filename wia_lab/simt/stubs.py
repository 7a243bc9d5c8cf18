"""The names a kernel uses, as objects that stand for device operations.

A stub does nothing: the front end gives it types (`declarations`), the simulator gives it meaning,
and called on the host it says where it belongs. Each is one object for the whole process, so a
typed call is recognised by identity: `typemap[call.func.name].typing_key is stubs.syncthreads`.

`CUDA` is what `wia_lab.cuda` and `numba.cuda` mean inside a kernel; `MODULES` maps the tail of a
submodule's dotted name to its namespace.
"""

from __future__ import annotations

from difflib import get_close_matches
from itertools import product
from typing import NoReturn

from wia_lab.simt.stub_tables import (
    ATOMICS,
    CACHE_HINTS,
    FLOAT16,
    LIBDEVICE,
    OPERATIONS,
    VECTOR_ALIASES,
    VECTOR_BASES,
)

VECTOR_FIELDS = ("x", "y", "z", "w")


class Stub:
    """One device operation or value: a name, how it is called, and what it means."""

    def __init__(self, name: str, call: str, doc: str) -> None:
        self.__name__ = name.rpartition(".")[2]
        self.__qualname__ = name
        self.__doc__ = f"{call}\n\n{doc}"

    def __repr__(self) -> str:
        return f"<cuda.{self.__qualname__}>"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return find, (self.__qualname__,)

    def __deepcopy__(self, memo: dict[int, object]) -> Stub:
        return self

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Refuse: a device operation has no meaning on the host."""
        raise NotImplementedError(
            f"cuda.{self.__qualname__} works only inside a kernel: call it from a function "
            "decorated with @cuda.jit and launched with kernel[grid, block](...)."
        )


class Dim3(Stub):
    """A triple of int32, `.x`, `.y` and `.z`; it has values only inside a kernel."""

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("x", "y", "z"):
            self()
        raise AttributeError(f"cuda.{self.__qualname__} has .x, .y and .z, no .{name}")


class Namespace:
    """A group of stubs reached by attribute, such as `cuda.atomic`."""

    def __init__(self, name: str, doc: str, **members: object) -> None:
        self.__name__ = name
        self.__doc__ = doc
        self.__members__ = tuple(members)  # names, in order of definition
        self.__dict__.update(members)

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return find, (self.__name__.partition(".")[2],)

    def __deepcopy__(self, memo: dict[int, object]) -> Namespace:
        return self

    def __getattr__(self, name: str) -> NoReturn:
        near = get_close_matches(name, self.__members__, n=1)
        way_out = f": perhaps {self.__name__}.{near[0]} is meant" if near else ""
        raise AttributeError(f"{self.__name__} has no {name!r}{way_out}")

    def names(self) -> tuple[str, ...]:
        """Names of the members, in order of definition."""
        return self.__members__


def find(name: str) -> Stub | Namespace:
    """The stub or namespace of a dotted name below `cuda`; the empty name is `CUDA` itself."""
    found: Stub | Namespace = CUDA
    for part in filter(None, name.split(".")):
        found = getattr(found, part)
    return found


def _group(prefix: str, rows: dict[str, tuple[str, str]]) -> dict[str, Stub]:
    return {name: Stub(prefix + name, call, doc) for name, (call, doc) in rows.items()}


def _functions(prefix: str, table: dict[str, str], source: str) -> dict[str, Stub]:
    """One stub a name of a table that maps a signature to names, as `LIBDEVICE` does."""
    return {
        name: Stub(f"{prefix}.{name}", f"{prefix}.{name}(...): signature {code}", source)
        for code, names in table.items()
        for name in names.split()
    }


threadIdx = Dim3("threadIdx", "threadIdx.x, .y, .z", "This thread's place in its block.")  # noqa: N816
blockIdx = Dim3("blockIdx", "blockIdx.x, .y, .z", "This block's place in the grid.")  # noqa: N816
blockDim = Dim3("blockDim", "blockDim.x, .y, .z", "Threads a block, in each direction.")  # noqa: N816
gridDim = Dim3("gridDim", "gridDim.x, .y, .z", "Blocks in the grid, in each direction.")  # noqa: N816
laneid = Stub("laneid", "laneid", "This thread's lane in its warp, 0 to 31, an int32.")
warpsize = Stub("warpsize", "warpsize", "Threads a warp, 32 on every device so far, an int32.")

_ARRAY = "(shape, dtype, alignment=None)"
_SHAPE = (
    " `shape` is an integer or a tuple of integers, each a literal or a global constant; `dtype` "
    "a Numba or NumPy scalar type or a record; `alignment` a literal power of two, in bytes."
)
shared = Namespace(
    "cuda.shared",
    "Memory that the threads of one block share.",
    array=Stub(
        "shared.array",
        f"shared.array{_ARRAY}",
        "An array that all threads of a block share, its content undefined at the start."
        + _SHAPE
        + " Shape 0 is the dynamic shared memory given at launch.",
    ),
)
local = Namespace(
    "cuda.local",
    "Memory of one thread.",
    array=Stub(
        "local.array",
        f"local.array{_ARRAY}",
        "An array of this thread alone, its content undefined at the start." + _SHAPE,
    ),
)
const = Namespace(
    "cuda.const",
    "Constant memory.",
    array_like=Stub(
        "const.array_like",
        "const.array_like(array)",
        "The global NumPy array `array`, as it is when the kernel is first compiled, in constant "
        "memory.",
    ),
)
atomic = Namespace(
    "cuda.atomic",
    "Read, change and write one element in one step that no other thread can divide.",
    **_group("atomic.", ATOMICS),
)
libdevice = Namespace(
    "cuda.libdevice",
    "NVIDIA's device library of mathematics.",
    **_functions("libdevice", LIBDEVICE, "As the CUDA libdevice user's guide defines it."),
)
fp16 = Namespace(
    "cuda.fp16",
    "Arithmetic on float16.",
    **_functions("fp16", FLOAT16, "As the CUDA math API defines it for half precision."),
)
GridGroup = Stub("cg.GridGroup", "cg.GridGroup", "All threads of a cooperative launch.")
cg = Namespace(
    "cuda.cg",
    "Cooperative groups.",
    GridGroup=GridGroup,
    this_grid=Stub(
        "cg.this_grid", "cg.this_grid()", "The group of all threads of the grid; it has sync()."
    ),
)

_operations = _group("", OPERATIONS)
grid = _operations["grid"]
gridsize = _operations["gridsize"]
syncthreads = _operations["syncthreads"]
syncthreads_count = _operations["syncthreads_count"]
syncthreads_and = _operations["syncthreads_and"]
syncthreads_or = _operations["syncthreads_or"]
syncwarp = _operations["syncwarp"]
threadfence = _operations["threadfence"]
threadfence_block = _operations["threadfence_block"]
threadfence_system = _operations["threadfence_system"]
shfl_sync = _operations["shfl_sync"]
shfl_up_sync = _operations["shfl_up_sync"]
shfl_down_sync = _operations["shfl_down_sync"]
shfl_xor_sync = _operations["shfl_xor_sync"]
all_sync = _operations["all_sync"]
any_sync = _operations["any_sync"]
eq_sync = _operations["eq_sync"]
ballot_sync = _operations["ballot_sync"]
match_any_sync = _operations["match_any_sync"]
match_all_sync = _operations["match_all_sync"]
activemask = _operations["activemask"]
lanemask_lt = _operations["lanemask_lt"]
popc = _operations["popc"]
clz = _operations["clz"]
ffs = _operations["ffs"]
brev = _operations["brev"]
cbrt = _operations["cbrt"]
fma = _operations["fma"]
selp = _operations["selp"]
nanosleep = _operations["nanosleep"]
cp_async = _operations["cp_async"]
cp_async_commit_group = _operations["cp_async_commit_group"]
cp_async_wait_group = _operations["cp_async_wait_group"]
cp_async_wait_all = _operations["cp_async_wait_all"]
copy_dram_to_sram_async = _operations["copy_dram_to_sram_async"]
async_copy_wait_all = _operations["async_copy_wait_all"]

cache_hints = _group("", CACHE_HINTS)
vector_types = {
    f"{base}x{count}": Stub(
        f"{base}x{count}",
        f"{base}x{count}({', '.join(VECTOR_FIELDS[:count])})",
        f"{count} values of {base}, kept and moved as one.",
    )
    for base, count in product(VECTOR_BASES, (1, 2, 3, 4))
}
vector_aliases = {
    f"{alias}{count}": vector_types[f"{base}x{count}"]
    for base, names in VECTOR_ALIASES.items()
    for alias in names.split()
    for count in (1, 2, 3, 4)
}

CUDA = Namespace(
    "cuda",
    "What `wia_lab.cuda` and `numba.cuda` mean inside a kernel.",
    threadIdx=threadIdx,
    blockIdx=blockIdx,
    blockDim=blockDim,
    gridDim=gridDim,
    laneid=laneid,
    warpsize=warpsize,
    shared=shared,
    local=local,
    const=const,
    atomic=atomic,
    libdevice=libdevice,
    fp16=fp16,
    cg=cg,
    **_operations,
    **cache_hints,
    **vector_types,
    **vector_aliases,
)

MODULES: dict[str, Namespace] = {"": CUDA, "libdevice": libdevice, "fp16": fp16, "cg": cg}
