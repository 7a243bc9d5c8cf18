"""Typing errors in words: one sentence with the place and the way out, instead of Numba's own text.

Numba's messages name types and candidates, which a learner cannot act on. The table of
`sentences.py` turns the common ones into a sentence; all others keep Numba's first line, and its
text after that. The class of the error stays.
"""

from __future__ import annotations

import dis
import re
import sys
from pathlib import Path
from types import CodeType, FunctionType

from wia_lab.simt.sentences import SENTENCES
from wia_lab.simt.spelling import meant, meant_by, nearest

_PLACES = (
    re.compile(r"During: (?:typing|resolving|lowering)[^\n]* at ([^\n]+) \((\d+)\)"),
    re.compile(r'File "([^"\n]+)", line (\d+)'),
    re.compile(r"(?:Raised from|location:|defined at) ([^\n]+?) \((\d+)\)"),
)
_ATTRIBUTE = re.compile(r"\bno (?:attribute )?['.]?(\w+)'?|cuda\.(\w+) works only inside")
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

_SIGNS = (
    "add + sub - mul * truediv / floordiv // mod % pow ** lshift << rshift >> and_ & or_ | xor ^ "
    "iadd += isub -= imul *= itruediv /= ifloordiv //= imod %= ipow **= ilshift <<= irshift >>= "
    "iand &= ior |= ixor ^= lt < le <= gt > ge >= eq == ne != neg - pos + invert ~"
)
_OPERATORS = dict(zip(_SIGNS.split()[::2], _SIGNS.split()[1::2], strict=True))

#: Numba's spelling of types and functions, and a plainer one.
_PLAINER = (
    (re.compile(r"\barray\((\w+), (\d)d, \w\)"), r"\2-D array of \1"),
    (re.compile(r"UniTuple\((\w+) x (\d+)\)"), r"tuple of \2 \1"),
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
        if each.positions and each.argval == (found[1] or found[2]) and each.opname in _ASKS
    )
    return next(lines, None)


def _sentence(error: Exception, message: str, py_func: FunctionType) -> tuple[str, bool]:
    """What is wrong, and whether nothing else need be said."""
    if named := _name_without_value(message, py_func):
        return named, True
    for pattern, sentence in SENTENCES:
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
            near = meant(found[1], py_func)
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
