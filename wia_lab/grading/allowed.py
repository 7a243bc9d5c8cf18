"""What an answer may import and call. One list, read by the parent's check and by the worker."""

from __future__ import annotations

import math

NUMBERS = frozenset(
    [
        "bool_",
        "boolean",
        "byte",
        "char",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "intp",
        "uintp",
        "intc",
        "uintc",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "void",
        "b1",
        "i1",
        "i2",
        "i4",
        "i8",
        "u1",
        "u2",
        "u4",
        "u8",
        "f2",
        "f4",
        "f8",
        "c8",
        "c16",
        "double",
        "float_",
        "int_",
    ]
)
"""Types of Numba and NumPy."""

KERNEL_IMPORTS: dict[str, frozenset[str] | None] = {
    "math": None,
    "numba": NUMBERS | {"cuda", "njit", "jit", "types", "literally"},
    "numba.cuda": None,
    "numba.types": NUMBERS,
    "numpy": None,
    "wia_lab": frozenset(["cuda", "check", "hint", "simulate", "hazards", "viz"]),
    "wia_lab.cuda": None,
    "__future__": None,
}
"""Modules that an answer of a kernel puzzle may import, and which of their names; None is any."""

HOST_IMPORTS: dict[str, frozenset[str] | None] = {
    **KERNEL_IMPORTS,
    # No njit and no jit: what they compile runs on this processor, past every check of an index
    "numba": NUMBERS | {"cuda", "types"},
    "wia_lab": frozenset(["cuda", "check", "hint", "simulate", "hazards", "viz", "hal"]),
    "wia_lab.hal": None,
    "wia_lab.errors": None,
    "abc": frozenset(["ABC", "abstractmethod"]),
    "bisect": None,
    "collections": None,
    "collections.abc": None,
    "contextlib": frozenset(["contextmanager", "suppress", "nullcontext", "ExitStack", "closing"]),
    "dataclasses": frozenset(["dataclass", "field", "replace", "astuple", "asdict"]),
    "functools": frozenset(
        ["cache", "lru_cache", "partial", "reduce", "total_ordering", "cmp_to_key"]
    ),
    "heapq": None,
    "itertools": None,
    "operator": frozenset(
        [
            "itemgetter",
            "add",
            "sub",
            "mul",
            "xor",
            "and_",
            "or_",
            "lt",
            "le",
            "gt",
            "ge",
            "eq",
            "ne",
            "neg",
        ]
    ),
    "random": frozenset(["Random", "choice", "randint", "randrange", "random", "shuffle"]),
    "threading": frozenset(["Lock", "RLock", "Condition", "Event", "Semaphore", "local"]),
    "typing": frozenset(
        [
            *["Any", "Callable", "ClassVar", "DefaultDict", "Deque", "Dict", "Final", "Generator"],
            *["Generic", "Iterable", "Iterator", "List", "Literal", "Mapping", "NamedTuple"],
            *["NoReturn", "Optional", "Protocol", "Self", "Sequence", "Set", "TYPE_CHECKING"],
            *["Tuple", "Type", "TypeAlias", "TypeVar", "Union", "cast", "overload"],
        ]
    ),
}
"""The same for an answer that runs on the host."""

BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bin",
        "bool",
        "bytearray",
        "bytes",
        "callable",
        "chr",
        "complex",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "hash",
        "hex",
        "id",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "object",
        "oct",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "staticmethod",
        "classmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "zip",
        "None",
        "True",
        "False",
        "Ellipsis",
        "NotImplemented",
    ]
)
"""Built-in names that an answer on the host may use; every exception class is allowed too."""

DUNDERS = frozenset(
    ["__init__", "__name__", "__post_init__", "__doc__", "__len__", "__next__", "__iter__"]
)
"""Attributes with two underscores that may be read."""

FRAMES = frozenset(
    [
        "tb_frame",
        "tb_next",
        "f_back",
        "f_globals",
        "f_locals",
        "f_builtins",
        "f_code",
        "gi_frame",
        "gi_code",
        "cr_frame",
        "cr_code",
        "ag_frame",
        "ag_code",
        "co_code",
        "func_globals",
        "mro",
        "with_traceback",
        "ctypes",
        "ctypeslib",
        "fromfile",
        "tofile",
        "memmap",
        "loadtxt",
        "savetxt",
        "genfromtxt",
        "f2py",
        *["sys", "os", "builtins", "inspect", "importlib", "subprocess", "gc", "ctypes", "posix"],
        *["modules", "settrace", "setprofile", "runstring", "testing", "_private", "_core"],
        *["backend", "_backend", "crossings", "storage", "ag_await", "gi_yieldfrom", "cr_await"],
        *["py_func", "stride_tricks", "as_strided", "cffi", "capsule"],
    ]
)
"""Attributes that lead out of the answer: to frames, modules, files, foreign code, the records."""

OF_ITS_OWN = frozenset(
    [
        *["core", "lib", "resize", "setflags"],  # NumPy's insides; memory freed under another array
        *["events", "finish", "log", "opened"],  # what the judge writes down, and says when
        *["handle", "span"],
    ]
)
"""Attributes that an answer may read of its own objects only, as those with one underscore."""

METHODS = frozenset(
    f"__{name}__"
    for name in [
        *["init", "post_init", "del", "enter", "exit", "call", "repr", "str", "format", "hash"],
        *["eq", "ne", "lt", "le", "gt", "ge", "bool", "int", "float", "index", "abs", "round"],
        *["len", "iter", "next", "reversed", "contains", "getitem", "setitem", "delitem"],
        *["neg", "pos", "invert", "add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul"],
        *["imul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "ior"],
        *["missing", "ror", "xor", "ixor"],
    ]
)
"""Methods with two underscores that an answer's class may have.

None through which NumPy would take an address (`__array_interface__`), nor one that answers for
every name.
"""


def imports(*, host: bool) -> dict[str, frozenset[str] | None]:
    """Return what may be imported."""
    return HOST_IMPORTS if host else KERNEL_IMPORTS


def may_import(module: str, name: str | None, *, host: bool) -> bool:
    """Whether `import module`, or `from module import name`, is allowed."""
    table = imports(host=host)
    if module not in table:
        return False
    names = table[module]
    if name is None or names is None:
        return name is None or not (name.startswith("_") or name in FRAMES | OF_ITS_OWN)
    return name in names


def is_math(name: str) -> bool:
    """Whether `math` has a public member of this name."""
    return not name.startswith("_") and hasattr(math, name)
