"""Typing errors in words: one sentence with the place and the way out, instead of Numba's own text.

Numba's messages name types and candidates, which a learner cannot act on. The table below turns the
common ones into a sentence; all others keep Numba's first line, and its text after that. The class
of the error stays.
"""

from __future__ import annotations

import dis
import re
import sys
from pathlib import Path
from types import CodeType, FunctionType

from wia_lab.simt.spelling import meant_by, nearest, visible

_PLACES = (
    re.compile(r"During: (?:typing|resolving|lowering)[^\n]* at ([^\n]+) \((\d+)\)"),
    re.compile(r'File "([^"\n]+)", line (\d+)'),
    re.compile(r"(?:Raised from|location:|defined at) ([^\n]+?) \((\d+)\)"),
)
_ATTRIBUTE = re.compile(r"\bno (?:attribute )?['.]?(\w+)'?")
_ASKS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_PLACES_OF_NUMBA = re.compile(r'^\s*(?:File "|During: |There are \d+ candidate)', re.MULTILINE)
_NAMES = (
    (
        re.compile(r"NameError: name '(\w+)' is not defined"),
        "is not defined",
        "define it before the kernel runs",
    ),
    (
        re.compile(r"\bVariable '(\w+)[^']*' is not defined"),
        "has no value where it is used",
        "assign it on every path before",
    ),
)
_UNKNOWN = re.compile(r"Unknown attribute '(\w+)' of type ((?:Module\(<module '([\w.]+)')?[^\n]*)")
_OF_ARRAYS = ("size", "shape", "ndim", "dtype", "strides", "itemsize", "nbytes", "T", "flat")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NOISE = re.compile(r"^(Failed in |- Resolution failure|Internal error at|None$|$)")

_NEW_ARRAY = "makes a new array, and a kernel cannot allocate memory: write a loop over elements"
_NO_LIST = "a list cannot be made in a kernel: use a tuple, or cuda.local.array"
_GIVEN = r".*?>>> [^(]*\((.*?)\)\n"

#: What Numba says, and what is said first; {0}, {1}, … are the groups.
_SENTENCES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), sentence)
    for pattern, sentence in (
        (
            rf"Function\(<cuda\.((?:shared|local)\.array)>\){_GIVEN}",
            (
                "the shape of cuda.{0} must be an integer or a tuple of integers, each a literal "
                "or a global constant (an expression goes into a global: SIZE = TILE + 2), and "
                "dtype a type; given ({1})"
            ),
        ),
        (
            r"Function\(<cuda\.(grid|gridsize)>\)",
            "cuda.{0} takes the literal 1, 2 or 3: the number of dimensions",
        ),
        (r"argument can only be 1, 2, 3", "cuda.grid and cuda.gridsize take 1, 2 or 3"),
        (
            rf"Function\(<cuda\.(syncthreads_\w+)>\){_GIVEN}",
            "cuda.{0} takes an integer, not {1}: write 1 if test else 0",
        ),
        (
            rf"Function\(<cuda\.(shfl_\w+)>\){_GIVEN}",
            (
                "cuda.{0} takes (mask, value, lane) with value an int32, int64, float32 or "
                "float64; given ({1})"
            ),
        ),
        (
            rf"Function\(<cuda\.((?:all|any|eq|ballot)_sync)>\){_GIVEN}",
            "cuda.{0} takes (mask, predicate), both integers or the second a boolean; given ({1})",
        ),
        (
            rf"Function\(<cuda\.(atomic\.(?:inc|dec))>\){_GIVEN}",
            "cuda.{0} works on arrays of uint32 and uint64; given ({1})",
        ),
        (
            rf"Function\(<cuda\.(atomic\.(?:and_|or_|xor|exch|cas|compare_and_swap))>\){_GIVEN}",
            "cuda.{0} works on arrays of integers of 32 and 64 bits; given ({1})",
        ),
        (
            rf"Function\(<cuda\.(atomic\.\w+)>\){_GIVEN}",
            "cuda.{0} works on arrays of integers and floats of 32 and 64 bits; given ({1})",
        ),
        (
            (
                r"Function\(<(cuda\.[\w.]+)>\).*?(missing a required argument|too many positional "
                r"arguments|got an unexpected keyword argument|multiple values for argument)"
                r"([^\n]*)"
            ),
            "this call of {0} has not the arguments that it needs: {1}{2}",
        ),
        (  # the last attempt, which is that with the literals
            (
                r"Function\(<cuda\.(?:cp_async|copy_dram)\w*>\).*"
                r"(?:TypingError|RequireLiteralValue): ([^\n]+)"
            ),
            "{0}",
        ),
        (
            (
                r"Function\(<class '(?:str|repr)'>\)|Function\(<built-in function (?:mod|add)>\)"
                r".*?>>> \w+\((?:Literal\[str\]|unicode)"
            ),
            (
                "a kernel cannot make texts (no f-string, no str(), no %, no +): print takes "
                "several values, as in print('i', i)"
            ),
        ),
        (r"Untyped global name '(\w+)'.*?(it is known only[^\n]*)", "{0}: {1}"),
        (
            r"Untyped global name '(\w+)'[^\n]*<class 'function'>",
            (
                "{0} is a plain Python function: decorate it with @cuda.jit(device=True) to call "
                "it from a kernel"
            ),
        ),
        (
            r"Untyped global name '(\w+)'[^\n]*<class '([^']+)'>",
            "{0} has no meaning in a kernel (it is a {1})",
        ),
        (
            r"No conversion from (\S.*?) to none for",
            "a kernel cannot return a value, this one returns {0}: write it to an array argument",
        ),
        (
            r"wrong tuple length for [^']*', 'expected (\d+), got (\d+)'",
            "{1} values cannot be unpacked into {0} names",
        ),
        (
            r"Cannot unify ([^\n]+?) and ([^\n]+?) for '(\w+)[.\d]*'",
            "{2} is {0} on one path and {1} on another: use a name for each, or convert",
        ),
        (
            r"Cannot unify ([^\n]+?) and ([^\n]+?) for '\$",
            "one value is {0} on one path and {1} on another: convert them to one type",
        ),
        (
            r">>> bool\(array\(",
            "if, while, and, or need one truth value, not a whole array's: compare one element",
        ),
        (
            (
                r"No implementation of function Function\(<(?:built-in )?function (\w+)[^>]*>\)"
                r".*?(?:Only accept returning|cannot allocate)"
            ),
            "{0}() " + _NEW_ARRAY,
        ),
        (
            r"Only accept returning of array passed into the function as argument",
            "a device function can return an array only if it was given it: pass the array in",
        ),
        (r"Unknown attribute 'append' of type list|empty list", _NO_LIST),
        (
            r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'",
            "{1} has no {0} in a kernel",
        ),
        (r"Unknown attribute '(\w+)' of type ([^\n]+)", "{1} has no {0} in a kernel"),
        (
            r"Use of unsupported opcode \(IMPORT_(?:NAME|FROM)\)",
            "import has no meaning in a kernel: import at the top of the file",
        ),
        (
            r"Use of unsupported opcode \(LOAD_BUILD_CLASS\)",
            "a class cannot be made in a kernel: use a tuple, or a named tuple made outside",
        ),
        (
            r"Use of unsupported opcode \((?:STORE|DELETE)_GLOBAL\)",
            "a kernel cannot change a global: write to an array argument",
        ),
        (
            r"Use of unsupported opcode \(UNPACK_EX\)",
            "a starred name takes no rest in a kernel: write a name for each part",
        ),
        (
            r"Use of unsupported opcode \((\w+)\)",
            (
                "this construct is not part of CUDA Python (Python's bytecode {0}): write it with "
                "loops, conditions and array elements"
            ),
        ),
        (
            r"^(?:[^\n]*\n)*?tuple index out of range",
            (
                "a tuple or shape has no element of this number: an array of n dimensions has "
                "shape[0] to shape[n - 1]"
            ),
        ),
        (r"Illegal use of context-manager", "with has no meaning in a kernel: leave it out"),
        (r"Illegal IR, del found at: del (\w+)", "del has no meaning in a kernel: leave it out"),
        (r"Invalid use of <built-in function i?matmul>", "@ " + _NEW_ARRAY),
        (
            r"Use of unsupported NumPy function 'numpy\.([\w.]+)'",
            "np.{0} has no meaning in a kernel: write a loop over elements",
        ),
        (
            (
                r"Invalid use of ((?:Literal|array|int|uint|float|bool|complex)[^\n]*) with "
                r"parameters \(([^\n]*)\)\n"
            ),
            (
                "{0} is a value and no function, so it cannot be called with ({1}): leave out the "
                "parentheses, or write [ ] for an element"
            ),
        ),
        (
            r"Invalid use of getiter with parameters \((.*?)\)\n",
            "a loop cannot run over {0}, whose elements differ in type: unpack it",
        ),
        (
            r"Type of variable '\$[^']*' cannot be determined",
            "a value has no type where it is used: assign it on a line of its own, without :=",
        ),
        (
            r"Type of variable '(\w+)[^']*' cannot be determined",
            "{0} has no type where it is used: assign it on every path before",
        ),
        (
            r">>> setitem\(readonly ",
            "the array is read-only: write to another one",
        ),
        (
            r">>> setitem\((?:DictType|reflected)",
            "a dict or list has no elements to set in a kernel: use an array",
        ),
        (
            (
                r">>> setitem\(((?:unaligned )?array\(.*?\)|[^,\n]+), "
                r"((?:Uni)?Tuple\(.*?\)|[^,\n]+), ([^\n]+)\)\n"
            ),
            "{2} cannot be stored at index {1} of {0}",
        ),
        (
            r">>> getitem\((DictType|Literal\[str\]).*?\)\n",
            "a dict or a text has no elements in a kernel: use an array given at launch",
        ),
        (
            r">>> getitem\(((?:\w+ )?array\([^\n]*?, (\d)d, \w\)), ([^\n]+)\)\n",
            "{0} does not take the index {2}: give an integer for each of its {1} dimensions",
        ),
        (
            r">>> getitem\((.*?), ([^,\n]+)\)\n",
            "{0} has no element {1} that is known when the kernel is compiled",
        ),
        (
            r"Cannot infer the type of variable '(\w+)[^']*'[^\n]*imprecise type: ([a-zA-Z]+)",
            "an empty {1} has no meaning in a kernel: use cuda.local.array for {0}",
        ),
        (
            rf"No implementation of function Function\((.+?)\) found for signature:{_GIVEN}",
            "{0} does not take ({1}) in a kernel",
        ),
    )
)

_SIGNS = (
    "add + sub - mul * truediv / floordiv // mod % pow ** lshift << rshift >> and_ & or_ | xor ^ "
    "iadd += isub -= imul *= itruediv /= ifloordiv //= imod %= ipow **= ilshift <<= irshift >>= "
    "iand &= ior |= ixor ^= lt < le <= gt > ge >= eq == ne != neg - pos + invert ~"
)
_OPERATORS = dict(zip(_SIGNS.split()[::2], _SIGNS.split()[1::2], strict=True))

#: Numba's spelling of types and functions, and a plainer one.
_PLAINER = (
    (re.compile(r"Literal\[str\]\(([^()]*)\)"), r"'\1'"),
    (re.compile(r"Literal\[\w+\]\(([^()]*)\)"), r"\1"),
    (re.compile(r"class\((\w+)\)"), r"\1"),
    (re.compile(r"<built-in function (\w+)>"), r"\1"),
    (re.compile(r"<(?:function|class|ufunc) '?([\w.]+)'?(?: at \w+)?>"), r"\1"),
    (re.compile(r"<(cuda\.[\w.]+)>"), r"\1"),
    (re.compile(r"\.?\.? Raised from .*"), ""),
)


def explain(error: Exception, py_func: FunctionType) -> None:
    """Make the message of `error` a sentence with file, line and function, in place.

    Numba's own text follows only where the sentence is no more than its first line.
    """
    original = _COLOUR.sub("", str(error)).strip()
    file, line = _place(error, original, py_func)
    sentence, is_whole = _sentence(error, original, py_func)
    text = f"{Path(file).name}:{line}: in {py_func.__name__}, {sentence}."
    error.args = (text if is_whole else f"{text}\n\n{original}",)


def _place(error: Exception, message: str, py_func: FunctionType) -> tuple[str, int]:
    """File and line of the construct, in the user's code rather than in Numba's."""
    loc = getattr(error, "loc", None)
    places = [] if loc is None else [(loc.filename, loc.line)]
    for pattern in _PLACES:
        places += [(found[1], int(found[2])) for found in pattern.finditer(message)]
    code = py_func.__code__
    for file, line in places:
        if Path(file).name == Path(code.co_filename).name:
            return file, line
    for file, line in places:
        if "numba" not in Path(file).parts:
            return file, line
    return code.co_filename, _line_of_attribute(code, message) or code.co_firstlineno


def _line_of_attribute(code: CodeType, message: str) -> int | None:
    """Line that asks for the attribute that an error without a place is about: `no 'blockidx'`."""
    if (found := _ATTRIBUTE.search(message)) is None:
        return None
    lines = (
        each.positions.lineno
        for each in dis.get_instructions(code)
        if each.positions and each.argval == found[1] and each.opname in _ASKS
    )
    return next(lines, None)


def _sentence(error: Exception, message: str, py_func: FunctionType) -> tuple[str, bool]:
    """What is wrong, and whether nothing else need be said."""
    if named := _name_without_value(message, py_func):
        return named, True
    for pattern, sentence in _SENTENCES:
        if found := pattern.search(message):
            near = _attribute_meant(message) if "Unknown attribute" in pattern.pattern else None
            said = _plainer(sentence.format(*found.groups()))
            return f"{said}: perhaps {near} is meant" if near else said, True
    own = _PLACES_OF_NUMBA.split(message)[0]
    lines = [line for line in own.splitlines() if not _NOISE.match(line)]
    said = _plainer(lines[0] if lines else "the kernel cannot be typed").strip().rstrip(".")
    near = None if "perhaps" in said else meant_by(error)
    return f"{said}: perhaps {near} is meant" if near else said, len(lines) <= 1


def _name_without_value(message: str, py_func: FunctionType) -> str | None:
    """The sentence for a name that is nowhere defined, or not where it is used."""
    for pattern, said, way_out in _NAMES:
        if found := pattern.search(message):
            near = nearest(found[1], visible(py_func))
            return f"{found[1]} {said}: {f'perhaps {near} is meant' if near else way_out}"
    return None


def _attribute_meant(message: str) -> str | None:
    """The attribute of an array or a module that is probably meant."""
    found = _UNKNOWN.search(message)
    if found is None:
        return None
    name, kind, module = found.groups()
    if module in sys.modules:  # a name that the module has is no slip, though kernels lack it
        known = vars(sys.modules[module])
        return None if name in known else nearest(name, known)
    return nearest(name, _OF_ARRAYS) if kind.startswith("array(") else None


def _plainer(text: str) -> str:
    for pattern, plain in _PLAINER:
        text = pattern.sub(plain, text)
    name, verb, rest = text.partition(" does not take ")
    return f"{_OPERATORS.get(name, name)}{verb}{rest}"
