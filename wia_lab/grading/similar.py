"""Near-identical answers, by syntax and not by text: a list for a person to judge, no verdict."""

from __future__ import annotations

import ast
import hashlib
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

from wia_lab.grading.refusal import Refused, parse

HASHES, BANDS = 32, 8
SHINGLE = 5  # consecutive nodes of the syntax tree
FEWEST = 60  # nodes of an answer; shorter ones are alike by nature
MOST = 4000  # nodes of which parts are compared; answers have hundreds
NEAR = 0.9
PRIME = (1 << 61) - 1


@dataclass(frozen=True)
class Sketch:
    """An answer without its names: a digest of the whole, and MinHashes of its parts."""

    student: str
    digest: str
    hashes: tuple[int, ...]


@dataclass(frozen=True)
class Pair:
    """Two students whose answers to a puzzle are near-identical."""

    puzzle: str
    first: str
    second: str
    likeness: float  # 1.0 is the same but for names, comments and layout


def sketch(student: str, source: str) -> Sketch | None:
    """Return the sketch of an answer; None where it is no Python or too short to tell."""
    try:
        nodes = normalised(parse(source))
    except (Refused, ValueError, RecursionError):
        return None
    if len(nodes) < FEWEST:
        return None
    first = nodes[:MOST]
    parts = {" ".join(first[i : i + SHINGLE]) for i in range(len(first) - SHINGLE + 1)}
    values = [
        int.from_bytes(hashlib.blake2b(p.encode(), digest_size=7).digest(), "big") for p in parts
    ]
    hashes = tuple(
        min((value * (2 * n + 3) + n * 0x9E3779B97F4A7C15) % PRIME for value in values)
        for n in range(HASHES)
    )
    return Sketch(student, hashlib.sha256(" ".join(nodes).encode()).hexdigest(), hashes)


def normalised(tree: ast.AST) -> list[str]:
    """Return the nodes of a tree in order, names numbered by first use, docstrings left out."""
    names: dict[str, int] = {}
    found: list[str] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        label = type(node).__name__
        for field in ("id", "arg", "name"):
            if isinstance(name := getattr(node, field, None), str):
                label += f":{names.setdefault(name, len(names))}"
        if isinstance(node, ast.Attribute):
            label += f":{node.attr}"
        if isinstance(node, ast.Constant):
            label += f":{node.value!r}"
        if not isinstance(node, (ast.Load, ast.Store, ast.alias, ast.Import, ast.ImportFrom)):
            found.append(label)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return found


def near_identical(puzzle: str, sketches: list[Sketch], most: int = 200) -> list[Pair]:
    """Return the pairs that are alike, most alike first.

    An answer that a third of the class gives is the puzzle's own, and is left out.
    """
    by_digest: dict[str, int] = defaultdict(int)
    for each in sketches:
        by_digest[each.digest] += 1
    common = {digest for digest, n in by_digest.items() if n >= 4 and 3 * n >= len(sketches)}
    rare = [each for each in sketches if each.digest not in common]
    buckets: dict[tuple[int, tuple[int, ...]], list[Sketch]] = defaultdict(list)
    rows = HASHES // BANDS
    for each in rare:
        for band in range(BANDS):
            buckets[band, each.hashes[band * rows : (band + 1) * rows]].append(each)
    pairs: dict[tuple[str, str], float] = {}
    for bucket in buckets.values():
        for one, other in combinations(bucket[:40], 2):
            first, second = sorted((one, other), key=lambda each: each.student)
            pairs[first.student, second.student] = likeness(first, second)
    ordered = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    return [Pair(puzzle, *names, value) for names, value in ordered if value >= NEAR][:most]


def likeness(one: Sketch, other: Sketch) -> float:
    """Return the share of MinHashes that agree; 1 for the same syntax only."""
    if one.digest == other.digest:
        return 1.0
    same = sum(a == b for a, b in zip(one.hashes, other.hashes, strict=True))
    return min(same / HASHES, 0.99)
