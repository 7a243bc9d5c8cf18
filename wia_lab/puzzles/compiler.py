"""A compiler's error as a check says it: the learner's line, and one sentence.

The simulator's front end opens its messages with `file:line: in function, sentence.`; Numba's own
text follows, which a learner rarely needs.
"""

from __future__ import annotations

import re
from pathlib import PurePath

OPENING = re.compile(r"(?P<file>[^\n]+?):(?P<line>\d+): in (?P<function>\S+), (?P<sentence>[^\n]+)")

UNRUN = re.compile(r"[^\n]+ line (?P<line>\d+): (?P<sentence>[^\n]+)")
"""What the simulator types and does not run; only the kernel's own file gets that far."""


def compiler_sentence(error: Exception, file: str) -> tuple[str, int | None]:
    """What is wrong, and the line of `file`; None where the error is about another file.

    Parameters
    ----------
    error
        What the front end raised.
    file
        The kernel's file, as its code object names it.
    """
    text = str(error).strip()
    if refused := UNRUN.match(text):
        return refused["sentence"].rstrip("."), int(refused["line"])
    opening = OPENING.match(text)
    if opening is None:
        return text.partition("\n")[0].rstrip("."), None
    own = PurePath(file.replace("\\", "/")).name == opening["file"]
    if own:
        return opening["sentence"].rstrip("."), int(opening["line"])
    return opening[0].rstrip("."), None
