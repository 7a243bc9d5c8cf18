"""Text of a kernel to a syntax tree of C: comments, `#define NAME value`, address spaces.

pycparser reads C, not OpenCL C. Its qualifiers for address spaces are told to it as qualifiers of C
that are as long and that the language does not have, so that lines and columns stay as written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pycparser import c_parser

from wia_lab.hal.clike.types import SHORTHANDS
from wia_lab.hal.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Iterator

SPACES = {"volatile": "global", "_Atomic": "local", "restrict": "constant"}
"""What the tree says for each address space."""

_VECTOR = re.compile(r"(u?(?:char|short|int|long)|float|double|half)(2|3|4|8|16)")
_DISGUISES = {"global": "volatile", "local": "_Atomic", "constant": "restrict", "kernel": "inline"}
_DROPPED = ("private", "__private", "restrict", "__restrict", "inline")
_REFUSED = {
    "volatile": "use an atomic or a barrier",
    "half": "use float",
    "_Atomic": "use atomic_add and its like",
    "__attribute__": "leave it out",
}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)[ \t]*(.*?)[ \t]*$")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_TYPEDEFS = " ".join(f"typedef int {each};" for each in (*SHORTHANDS, "bool"))
_ENDED = "At end of input"
_PARSED = re.compile(r".*?:(?P<line>\d+):(?:(?P<column>\d+):)?\s*(?P<what>.*)", re.DOTALL)


def refuse(file: str, line: int, column: int, what: str) -> KernelError:
    """The error for a place in the text; raise it."""
    return KernelError(f"{file}, line {line}, column {column}: {what}")


def parse(source: str, file: str) -> Any:
    """The tree of a text.

    Raises
    ------
    KernelError
        With the line and the column of what is no C, or not in the language.
    """
    text = _prepared(source, file)
    try:
        return c_parser.CParser().parse(f'{_TYPEDEFS}\n#line 1 "k"\n{text}\n', file)
    except c_parser.ParseError as error:
        if (hole := text.find("...")) >= 0:
            line, column = text.count("\n", 0, hole) + 1, hole - text.rfind("\n", 0, hole)
            what = "'...' is a hole: write what belongs there"
            raise refuse(file, line, column, what) from None
        found = _PARSED.match(str(error))
        if found is None and _ENDED in str(error):
            raise KernelError(f"{file} ends too soon: close what is open, {{, ( or [") from None
        if found is None:  # the parser does not say where
            what = str(error).rpartition(": ")[2].lower()
            raise KernelError(f"{file}: {what}: look for operators that C does not have") from None
        last = source.count("\n") + 1
        line, what = min(int(found["line"]), last), found["what"].strip()
        what = what.replace("before: ", "not C before ")
        raise refuse(file, line, int(found["column"] or 1), what) from None


def _prepared(source: str, file: str) -> str:
    text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    if (open_ := text.find("/*")) >= 0:
        row, column = text.count("\n", 0, open_) + 1, open_ - text.rfind("\n", 0, open_)
        raise refuse(file, row, column, "this comment has no end: close it with */")
    macros: dict[str, str] = {}
    lines: list[str] = []
    for number, line in _joined(text):
        lines += [""] * (number - 1 - len(lines))  # lines that were joined to the one before
        if line.lstrip().startswith("#"):
            _define(line, number, file, macros)
            lines.append("")
        else:
            lines.append(_WORD.sub(lambda word: _word(word[0], macros), line))
            _check(line, number, file)
    return "\n".join(lines)


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; one that ends in a backslash goes on in the next."""
    begun, first = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith("\\"):
            begun += line[:-1]
            continue
        yield first, begun + line
        begun, first = "", number + 1
    if begun:
        yield first, begun


def _define(line: str, number: int, file: str, macros: dict[str, str]) -> None:
    found = _DEFINE.match(line)
    if found is None or found[2] or not found[3]:
        column = len(line) - len(line.lstrip()) + 1
        raise refuse(
            file,
            number,
            column,
            f"{line.strip()}: of the preprocessor there is #define NAME value alone",
        )
    macros[found[1]] = found[3]


def _word(word: str, macros: dict[str, str], inside: tuple[str, ...] = ()) -> str:
    """What stands for a word; in a macro's own text its name is only a name, as in C."""
    if word in macros and word not in inside:
        within = (*inside, word)
        text = _WORD.sub(lambda each: _word(each[0], macros, within), macros[word])
        return text.ljust(len(word))  # what follows keeps its column where it can
    if word in _DROPPED:
        return " " * len(word)
    plain = word.removeprefix("__")
    return _DISGUISES[plain].ljust(len(word)) if plain in _DISGUISES else word


def _check(line: str, number: int, file: str) -> None:
    for word in _WORD.finditer(line):
        if word[0] in _REFUSED:
            what = f"{word[0]} is outside the kernel language: {_REFUSED[word[0]]}"
            raise refuse(file, number, word.start() + 1, what)
        if _VECTOR.fullmatch(word[0]):
            what = f"{word[0]} is outside the kernel language: use one number a variable, or arrays"
            raise refuse(file, number, word.start() + 1, what)
