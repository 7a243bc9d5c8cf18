"""Random well-formed kernels, as Numba source and as plain Python for one thread.

Integers only: they must agree bit for bit. Each program has variables a to d, a read-only array
`data`, cells of `out` that belong to the thread, bounded loops, `break`, `continue`, `else`, early
return, ternaries, short circuits, tuple assignment and a device function.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from wia_lab import cuda

NAMES = ("a", "b", "c", "d")
CELLS = 4
THREADS = 96
DATA = np.array([3, -7, 11, 2, -1, 40, 9, -13, 5, 0, 1, 77, -20], np.int64)

_numbers = itertools.count()


def wrapped(value: int) -> int:
    """A Python integer as int64 holds it."""
    return (value + 2**63) % 2**64 - 2**63


@dataclass
class Writer:
    """Writes one program in both notations."""

    draw: Callable
    depth: int = 0
    loops: int = 0
    fresh: int = 0

    def expression(self, depth: int = 0) -> tuple[str, str]:
        """An int64 expression: (Numba, Python)."""
        kinds = ["name", "constant", "thread", "data"]
        if depth < 3:
            kinds += ["binary", "binary", "divide", "shift", "ternary", "negate", "call", "extreme"]
        kind = self.draw(st.sampled_from(kinds))
        if kind == "name":
            name = self.draw(st.sampled_from(NAMES))
            return name, name
        if kind == "constant":
            value = str(self.draw(st.integers(-9, 99)))
            return f"({value})", f"({value})"
        if kind == "thread":
            return "t", "t"
        if kind == "data":
            numba, python = self.expression(depth + 2)
            return f"data[({numba}) % {DATA.size}]", f"data[({python}) % {DATA.size}]"
        numba, python = self.expression(depth + 1)
        if kind == "negate":
            sign = self.draw(st.sampled_from("-~"))
            return f"({sign}({numba}))", f"w({sign}({python}))"
        if kind == "divide":
            sign = self.draw(st.sampled_from(["//", "%"]))
            by = self.draw(st.sampled_from([-5, -2, 3, 7]))
            return f"(({numba}) {sign} ({by}))", f"w(({python}) {sign} ({by}))"
        if kind == "shift":
            sign, by = self.draw(st.sampled_from(["<<", ">>"])), self.draw(st.integers(0, 9))
            return f"(({numba}) {sign} {by})", f"w(({python}) {sign} {by})"
        if kind == "call":
            return f"helper({numba}, t)", f"helper({python}, t)"
        second, second_python = self.expression(depth + 1)
        if kind == "extreme":
            function = self.draw(st.sampled_from(["min", "max"]))
            return f"{function}({numba}, {second})", f"{function}({python}, {second_python})"
        if kind == "ternary":
            test, test_python = self.condition(depth + 1)
            return (
                f"(({numba}) if {test} else ({second}))",
                f"(({python}) if {test_python} else ({second_python}))",
            )
        sign = self.draw(st.sampled_from(["+", "-", "*", "&", "|", "^"]))
        return f"(({numba}) {sign} ({second}))", f"w(({python}) {sign} ({second_python}))"

    def condition(self, depth: int = 0) -> tuple[str, str]:
        """A condition: comparisons, chained or joined by and/or/not."""
        left, left_python = self.expression(depth + 1)
        right, right_python = self.expression(depth + 1)
        sign = self.draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
        plain = (f"({left}) {sign} ({right})", f"({left_python}) {sign} ({right_python})")
        kind = self.draw(st.sampled_from(["plain", "plain", "and", "or", "not", "chain"]))
        if kind == "plain" or depth > 1:
            return plain
        if kind == "not":
            return f"(not {plain[0]})", f"(not {plain[1]})"
        if kind == "chain":
            return (
                f"(0 <= ({left}) {sign} ({right}))",
                f"(0 <= ({left_python}) {sign} ({right_python}))",
            )
        other, other_python = self.condition(depth + 1)
        return f"({plain[0]} {kind} {other})", f"({plain[1]} {kind} {other_python})"

    def block(self, indent: int) -> list[tuple[str, str]]:
        """One to three statements."""
        lines: list[tuple[str, str]] = []
        for _ in range(self.draw(st.integers(1, 3))):
            lines += self.statement(indent)
        return lines

    def statement(self, indent: int) -> list[tuple[str, str]]:
        """One statement, with what it holds."""
        pad = "    " * indent
        kinds = ["assign", "assign", "augment", "store", "swap"]
        if indent < 4:
            kinds += ["if", "if", "for", "while"]
        if self.loops:
            kinds += ["break", "continue"]
        kinds.append("return")
        kind = self.draw(st.sampled_from(kinds))
        if kind == "assign":
            name, (numba, python) = self.draw(st.sampled_from(NAMES)), self.expression()
            return [(f"{pad}{name} = {numba}", f"{pad}{name} = {python}")]
        if kind == "augment":
            name, (numba, python) = self.draw(st.sampled_from(NAMES)), self.expression(1)
            return [(f"{pad}{name} += {numba}", f"{pad}{name} = w({name} + {python})")]
        if kind == "store":
            cell, (numba, python) = self.draw(st.integers(0, CELLS - 1)), self.expression(1)
            return [(f"{pad}out[t, {cell}] = {numba}", f"{pad}out[t, {cell}] = {python}")]
        if kind == "swap":
            first, second = self.draw(st.permutations(NAMES))[:2]
            line = f"{pad}{first}, {second} = {second}, {first}"
            return [(line, line)]
        if kind in ("break", "continue", "return"):
            test, test_python = self.condition(1)
            return [(f"{pad}if {test}:", f"{pad}if {test_python}:"), *self.same(f"{pad}    {kind}")]
        if kind == "if":
            return self.branch(indent)
        return self.loop(indent, kind)

    @staticmethod
    def same(line: str) -> list[tuple[str, str]]:
        return [(line, line)]

    def branch(self, indent: int) -> list[tuple[str, str]]:
        pad = "    " * indent
        test, test_python = self.condition()
        lines = [(f"{pad}if {test}:", f"{pad}if {test_python}:"), *self.block(indent + 1)]
        if self.draw(st.booleans()):
            lines += [*self.same(f"{pad}else:"), *self.block(indent + 1)]
        return lines

    def loop(self, indent: int, kind: str) -> list[tuple[str, str]]:
        pad = "    " * indent
        self.fresh += 1
        counter, bound = f"i{self.fresh}", self.draw(st.integers(1, 5))
        self.loops += 1
        body = self.block(indent + 1)
        self.loops -= 1
        if kind == "for":
            stop = self.draw(st.sampled_from([str(bound), f"t % {bound + 1}", f"{bound} + t % 2"]))
            step = self.draw(st.sampled_from(["", ", 2"]))
            head = f"{pad}for {counter} in range(0, {stop}{step}):"
            lines = [*self.same(head), *body, *self.same(f"{pad}    a += {counter}")]
            lines[-1] = (lines[-1][0], f"{pad}    a = w(a + {counter})")
        else:
            test, test_python = self.condition(1)
            lines = [
                *self.same(f"{pad}{counter} = 0"),
                (
                    f"{pad}while {counter} < {bound} and {test}:",
                    f"{pad}while {counter} < {bound} and {test_python}:",
                ),
                *self.same(f"{pad}    {counter} += 1"),
                *body,
            ]
        if self.draw(st.booleans()):
            lines += [*self.same(f"{pad}else:"), *self.block(indent + 1)]
        return lines


HELPER = """
def helper(x, t):
    if x % 3 == 0:
        return {w}(x + t)
    n = 0
    while n < 3:
        n += 1
        if x + n > 20:
            break
    return {w}(x - n)
"""


@st.composite
def programs(draw: Callable) -> tuple[str, str]:
    """A kernel's source, and the same for one thread of plain Python."""
    writer = Writer(draw)
    start = [
        (f"    {name} = {value}", f"    {name} = {value}")
        for name, value in zip(NAMES, (1, 2, 3, 5), strict=True)
    ]
    body = []
    for _ in range(draw(st.integers(2, 6))):
        body += writer.statement(1)
    end = [
        (f"    out[t, {cell}] = out[t, {cell}] ^ {name}",) * 2 for cell, name in enumerate(NAMES)
    ]
    lines = [*start, *body, *end]
    numba = "\n".join(["def kernel(out, data):", "    t = cuda.grid(1)", *(n for n, _ in lines)])
    python = "\n".join(["def thread(out, data, t):", *(p for _, p in lines)])
    return numba, python


def compiled(source: str, **names: object) -> dict[str, object]:
    """Run a source so that its lines can be read back."""
    file = f"<fuzz {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)  # noqa: S102 (our own text)
    return names


def kernel_of(source: str) -> Callable:
    """The kernel of a generated source."""
    helper = compiled(HELPER.format(w=""))["helper"]
    return compiled(source, cuda=cuda, helper=cuda.jit(device=True)(helper))["kernel"]


def expected(source: str) -> np.ndarray:
    """What each thread leaves in `out`, by plain Python."""
    helper = compiled(HELPER.format(w="w"), w=wrapped)["helper"]
    thread = compiled(source, w=wrapped, helper=helper)["thread"]
    cells: dict[tuple[int, int], int] = {}

    class Out:
        def __getitem__(self, key: tuple[int, int]) -> int:
            return cells.get(key, 0)

        def __setitem__(self, key: tuple[int, int], value: int) -> None:
            cells[key] = value

    for t in range(THREADS):
        thread(Out(), DATA.tolist(), t)
    out = np.zeros((THREADS, CELLS), np.int64)
    for key, value in cells.items():
        out[key] = value
    return out
