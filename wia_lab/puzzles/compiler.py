"""A compiler's error in one sentence, and the line of the learner's that it is about."""

from __future__ import annotations

import re
from pathlib import PurePath

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
PLACE = re.compile(r'File "(?P<file>[^"]*)", line (?P<line>\d+)|at (?P<at>\S+) \((?P<number>\d+)\)')
REASON = re.compile(r"raised a specific error:\n\s*\w+: (?P<reason>.*)")
CALL = re.compile(
    r"No implementation of function Function\("
    r"<?(?:built-in function )?(?P<name>[\w.]+).*?>>> [^(]*\((?P<types>.*?)\)\n",
    re.DOTALL,
)
CONSTANT_SHAPE = (
    "the shape of {name} must be a number, a name of one that stands outside the kernel, or a tuple "
    "of these, and nothing computed; its dtype a type such as float32"
)
SENTENCES = (
    (
        re.compile(r"No conversion from .* to none"),
        "a kernel returns nothing: store the result in an array, and write return without a value",
    ),
    (
        re.compile(r"Cannot unify (.+) and (.+) for '"),
        r"one name stands for \1 on one path and for \2 on another: give it one type",
    ),
    (re.compile(r"Variable '([^']+)' is not defined"), r"\1 is used before it is set"),
)
"""What Numba says, and how to say it to somebody who does not know Numba."""


def compiler_sentence(error: Exception, file: str) -> tuple[str, int | None]:
    """What is wrong, and the last line of `file` that the error names.

    Parameters
    ----------
    error
        A NumbaError.
    file
        The kernel's file, as its code object names it.
    """
    text = COLOUR.sub("", str(error))
    return _sentence(text) or type(error).__name__, _line(text, file)


def _line(text: str, file: str) -> int | None:
    """The last line that a message names in `file`, which it may name relative to somewhere."""
    name = PurePath(file.replace("\\", "/")).name
    lines = [
        int(found["line"] or found["number"])
        for found in PLACE.finditer(text)
        if (found["file"] or found["at"]).replace("\\", "/").endswith(name)
    ]
    return lines[-1] if lines else None


def _sentence(text: str) -> str:
    for pattern, sentence in SENTENCES:
        if found := pattern.search(text):
            return found.expand(sentence)
    reason = REASON.search(text)
    if reason and len(reason["reason"].split()) > 3:
        return reason["reason"]
    if call := CALL.search(text):
        return _refused_call(call["name"], _arguments(call["types"]))
    first = (line.strip() for line in text.splitlines())
    return next((line for line in first if line and not line.startswith("Failed in ")), "")


def _refused_call(name: str, types: list[str]) -> str:
    """What cannot be called, or indexed, with what."""
    if name in {"cuda.shared.array", "cuda.local.array"}:
        return CONSTANT_SHAPE.format(name=name)
    if name in {"getitem", "setitem"} and len(types) > 1:
        verb = "read" if name == "getitem" else "set"
        to = f" to {types[2]}" if len(types) > 2 else ""
        return f"an element of {types[0]} cannot be {verb} with the index {types[1]}{to}"
    return f"{name} cannot be applied to {' and '.join(types) or 'nothing'}"


def _arguments(text: str) -> list[str]:
    """The types of a call, in words: `array(float32, 1d, C)` is `a 1-D float32 array`."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [_in_words(part.strip()) for part in parts if part.strip()]


def _in_words(name: str) -> str:
    if found := re.fullmatch(r"array\((\w+), (\d)d, \w+\)", name):
        return f"a {found[2]}-D {found[1]} array"
    if found := re.fullmatch(r"UniTuple\((\w+) x (\d+)\)", name):
        return f"{found[2]} {found[1]} numbers"
    if found := re.fullmatch(r"Literal\[(\w+)\]\((.*)\)", name):
        return repr(found[2]) if found[1] == "str" else found[2]
    if found := re.fullmatch(r"Tuple\((.*)\)", name):
        return f"({', '.join(_arguments(found[1]))})"
    return name
