"""Which names the standard's code has: functions, types, fields, enum members and macros.

The documents come without fences, so code is what is left of a line once comments and strings
are gone, if it holds no Korean. `python tests/hal/standard_names.py DOCUMENT...` prints the names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

C_WORDS = frozenset("for if sizeof switch while".split())
"""Keywords that are followed by a bracket, as a call is."""

C_LIBRARY = frozenset(
    "abort aligned_alloc atomic_fetch_add atomic_fetch_sub atomic_init fprintf free main malloc "
    "memmove printf size_t NULL __FILE__ __LINE__".split()
)
"""The C standard's, not this one's: `size_t` is a Python int, `printf` is `print`."""

LOCALS = {
    "operation1": "what an example computes",
    "operation2": "what an example computes",
    "complex_pipeline_with_dependencies": "an example's own name",
    "compare_transfer_performance": "an example's own name",
    "create_computation_pipeline": "an example's own name",
    "create_context_for_device": "an example's own name",
    "demonstrate_memory_types": "an example's own name",
    "double_buffering_example": "an example's own name",
    "enable_peer_access_example": "an example's own name",
    "high_level_operations": "an example's own name",
    "process_data_unified": "an example's own name",
    "process_with_hints": "an example's own name",
    "profile_application": "an example's own name",
    "shared_memory_example": "an example's own name",
    "synchronization_patterns": "an example's own name",
    "tensor_operations_showcase": "an example's own name",
    "get_time": "the host's clock",
    "initialize_on_cpu": "what an example's host writes",
    "initialize_value": "what an example's host writes",
    "process_in_thread_a": "what an example's threads do",
    "process_in_thread_b": "what an example's threads do",
    "STRINGIFY": "a macro of the C preprocessor's, which turns __LINE__ into text",
}
"""Names that an example gives to its own things, each with what it is."""

UNTYPED = {"allocations": "allocation_record_t", "blocks": "memory_block_t"}
"""Arrays that the documents index without declaring them, and what their elements are."""

COMMENT = re.compile(r"/\*.*?\*/|//.*")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
KOREAN = re.compile(r"[\uac00-\ud7a3]")
SECTION = re.compile(r"^(\d+\.\d+(?:\.\d+)?) \S")
MEMORY_TYPE = re.compile(r"^([A-Z]{4,})\t")  # the first column of the table in §3.5.1
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<<<?>>>?)?\s*\(")
TYPE = re.compile(r"\b([a-z]\w*_t)\b")
CONSTANT = re.compile(r"\b([A-Z_][A-Z0-9_]{3,})\b")
VARIABLE = re.compile(r"\b([a-z]\w*_t)\b\s*\*{0,2}\s*(\w+)\b")
QUALIFIER = re.compile(r"\b(__[a-z]+)\b")
MEMBER = re.compile(r"\b(\w+)(?:\[[^\]]*\])?(?:\.|->)([a-z]\w*)")
INITIALISER = re.compile(r"^\s*\.(\w+)\s*=")
DECLARATION = re.compile(r"(\w+)(?:\[\w+\])?;")
END_OF_STRUCT = re.compile(r"^\}\s*(\w+);")


def names_in(document: str) -> Iterator[tuple[str, str]]:
    """Yield each section and name; a field is `type.field`. A name comes as often as it is used."""
    section, last, members = "", "", None
    types = dict(UNTYPED)
    for line in document.splitlines():
        if heading := SECTION.match(line):
            section = heading[1]
        if row := MEMORY_TYPE.match(line):
            yield section, row[1]
        code = STRING.sub("", COMMENT.sub("", STRING.sub('""', line)))
        if KOREAN.search(code):
            continue
        if "typedef struct {" in code:
            members = []
            continue
        if members is not None and (end := END_OF_STRUCT.match(code)):
            yield section, end[1]
            yield from ((section, f"{end[1]}.{member}") for member in members)
            members = None
            continue
        if members is not None:
            members += DECLARATION.findall(code)
        for kind, variable in VARIABLE.findall(code):
            types[variable] = kind
            last = kind if code.endswith("{") else last
        found = [*CALL.findall(code), *TYPE.findall(code), *CONSTANT.findall(code)]
        found += QUALIFIER.findall(code)
        found += [f"{types[of]}.{field}" for of, field in MEMBER.findall(code) if of in types]
        found += [f"{last}.{field}" for field in INITIALISER.findall(code)]
        yield from ((section, name) for name in found if is_the_standards(name))


def is_the_standards(name: str) -> bool:
    """Whether a name is neither C's nor an example's own."""
    return name not in C_WORDS and name not in C_LIBRARY and name not in LOCALS


def all_names(documents: list[str]) -> dict[str, str]:
    """Return each name once with the section where it comes first, sorted by name."""
    found: dict[str, str] = {}
    for document in documents:
        for section, name in names_in(document):
            found.setdefault(name, section)
    return dict(sorted(found.items()))


if __name__ == "__main__":
    texts = [Path(path).read_text(encoding="utf-8") for path in sys.argv[1:]]
    for name, section in all_names(texts).items():
        print(f"{section}\t{name}")
