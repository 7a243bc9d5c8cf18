"""The likely cause of a hazard, from all of the launch and from the source."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numba import float32

from wia_lab import cuda
from wia_lab.puzzles.execute import execute
from wia_lab.puzzles.puzzle import Case

SIZE = 40


def remark(kernel, size=SIZE, grid=(2,), block=(32,)):
    """Cause and sentence for a kernel of (out, a), launched with two blocks of 32."""
    case = Case(
        name="made up",
        arguments={
            "out": np.full(size, np.nan, np.float32),
            "a": np.arange(1, size + 1, dtype=np.float32),
        },
        outputs=("out",),
        grid=grid,
        block=block,
    )
    found = execute(kernel.py_func, case).remark
    return (None, "") if found is None else (found.cause, found.sentence)


def line_of(kernel, text):
    """Number of the line of this file, from the kernel on, that holds a text."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    first = kernel.py_func.__code__.co_firstlineno
    return next(n for n, line in enumerate(lines, 1) if n >= first and text in line)


@cuda.jit
def right(out, a):
    """A right answer."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


def test_nothing_to_say():
    """A right answer gets no remark."""
    assert remark(right) == (None, "")


# Conditions


@cuda.jit
def includes_the_length(out, a):
    """One too many."""
    n = out.size
    i = cuda.grid(1)
    if i <= n:
        out[i] = a[i]


@cuda.jit
def leaves_past_the_length(out, a):
    """Sends away one too few."""
    me = cuda.grid(1)
    if me > len(out):
        return
    out[me] = a[me]


@cuda.jit
def bounded_by_a_number(out, a):
    """A chain, and the length as a number."""
    i = cuda.grid(1)
    if 0 <= i <= 40:
        out[i] = a[i]


@cuda.jit
def changed_since(out, a):
    """Asks before it counts on."""
    i = cuda.grid(1)
    while i < out.size:
        i += cuda.gridsize(1)
        out[i] = a[i]


@cuda.jit
def bounded_by_the_grid(out, a):
    """Asks what is always so."""
    i = cuda.grid(1)
    if i < cuda.gridsize(1):
        out[i] = a[i]


@cuda.jit
def all_but_one(out, a):
    """Sends away the first thread too many, and no other."""
    i = cuda.grid(1)
    if i == out.size:
        return
    out[i] = a[i]


@cuda.jit
def in_the_else(out, a):
    """Works in the other branch."""
    i = cuda.grid(1)
    if a.size < i:
        pass
    else:
        out[i] = a[i]


@cuda.jit
def not_beyond(out, a):
    """Asks with a not."""
    i = cuda.grid(1)
    if not i > a.size:
        out[i] = a[i]


@cuda.jit
def range_too_long(out, a):
    """Counts one too far."""
    for i in range(cuda.grid(1), a.size + 1, cuda.gridsize(1)):
        out[i] = a[i]


@cuda.jit
def one_side(out, a):
    """Asks about the end that nobody leaves by."""
    i = cuda.grid(1)
    if 0 <= i:
        out[i] = a[i]


@cuda.jit
def joined_by_or_to_go_on(out, a):
    """Goes on if either holds."""
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < out.size or t < 32:
        out[i] = a[i]


@cuda.jit
def joined_by_or(out, a):
    """Leaves early if both hold, where either is enough."""
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i >= out.size and t > 31:
        return
    out[i] = a[i]


@cuda.jit
def another_length(out, a):
    """The length of an example."""
    i = cuda.grid(1)
    if 48 > i:
        out[i] = a[i]


@cuda.jit
def another_index(out, a):
    """Asks about the thread, not about the element."""
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if t < out.size:
        out[i] = a[i]


@cuda.jit
def no_condition(out, a):
    """Asks nothing: the hazard's own message says what to do."""
    i = cuda.grid(1)
    out[i] = a[i]


@cuda.jit
def sentinel(out, a):
    """In a loop that is left, and a condition that is true in another way."""
    i = cuda.grid(1)
    for k in range(2):
        if not i <= a.size:
            break
        if k == 0:
            continue
        out[i] = a[i]


class TestConditions:
    """An index that leaves an argument, though something is asked."""

    @pytest.mark.parametrize(
        ("kernel", "cause", "said"),
        [
            (
                includes_the_length,
                "guard-includes-the-length",
                "`if i <= n:`, lets i = n, here 40, through, one past the last place of a: write "
                "`i < n`.",
            ),
            (
                leaves_past_the_length,
                "guard-includes-the-length",
                "`if me > len(out): return`, lets me = len(out), here 40, through, one past the "
                "last place of a: write `me >= len(out)`.",
            ),
            (
                bounded_by_a_number,
                "guard-includes-the-length",
                "`if 0 <= i <= 40:`, lets i = 40 through, one past the last place of a: write "
                "`i < 40`.",
            ),
            (
                sentinel,
                "guard-includes-the-length",
                "`if not i <= a.size: break`, lets i = a.size, here 40, through, one past the last "
                "place of a: write `i < a.size`.",
            ),
            (
                joined_by_or,
                "guard-by-or",
                "`if i >= out.size and t > 31: return`, leaves only where all of it is true, and "
                "each part alone is a reason: write `or`.",
            ),
            (
                joined_by_or_to_go_on,
                "guard-by-or",
                "`if i < out.size or t < 32:`, is true where one part of it is, so one of them is "
                "enough: all must hold, so `and`.",
            ),
            (
                in_the_else,
                "guard-includes-the-length",
                "`if a.size < i: … else:`, lets i = a.size, here 40, through, one past the last "
                "place of a: write `a.size <= i`.",
            ),
            (
                not_beyond,
                "guard-includes-the-length",
                "`if not i > a.size:`, lets i = a.size, here 40, through, one past the last place "
                "of a: write `i >= a.size`.",
            ),
            (
                bounded_by_the_grid,
                "guard-by-another-length",
                "`if i < cuda.gridsize(1):`, compares `i` with `cuda.gridsize(1)`, but a has only "
                "40 places: compare with a.size.",
            ),
            (
                all_but_one,
                "guard-of-one-side",
                "`if i == out.size: return`, does not bound `i`, the index, above: `i < a.size` "
                "must hold too.",
            ),
            (
                one_side,
                "guard-of-one-side",
                "`if 0 <= i:`, does not bound `i`, the index, above: `i < a.size` must hold too.",
            ),
            (
                another_length,
                "guard-by-another-length",
                "`if 48 > i:`, compares `i` with 48 here, but a has only 40 places: compare with "
                "a.size.",
            ),
            (
                another_index,
                "guard-of-something-else",
                "`if t < out.size:`, does not keep `i`, the index, below a.size: what is asked "
                "must be the index itself.",
            ),
        ],
        ids=lambda each: getattr(each, "__name__", None),
    )
    def test_what_is_asked(self, kernel, cause, said):
        """The condition is quoted as it is written, and what is wrong with it said."""
        found = remark(kernel)
        [written] = re.findall("`((?:if|not) .*?)(?::| break)", said)[:1]
        assert found[0] == cause
        assert found[1] == f"line {line_of(kernel, written)}, {said}"

    def test_changed_since(self):
        """A condition that is right where it stands, and the index counted on after it."""
        cause, text = remark(changed_since)
        asked, used = (line_of(changed_since, mark) for mark in ("while", "out[i] ="))
        assert cause == "index-changed"
        assert text == (
            f"line {asked}, `while i < out.size:`, bounds `i` as it is there, and on line {used} "
            "it is another: see what happens to it between the two."
        )

    def test_range(self):
        """A loop that counts the index past the array's end."""
        cause, text = remark(range_too_long)
        assert cause == "range-too-long"
        assert text == (
            f"line {line_of(range_too_long, 'in range(')}, `range(cuda.grid(1), a.size + 1, "
            "cuda.gridsize(1))`, ends before 41 here, and a has only 40 places: end at a.size."
        )

    def test_nothing_is_asked(self):
        """Where there is no condition there is nothing to add."""
        assert remark(no_condition) == (None, "")

    def test_no_source(self):
        """A kernel whose source Python does not keep is judged without it."""
        namespace = {"cuda": cuda}
        exec(
            "@cuda.jit\ndef f(out, a):\n    i = cuda.grid(1)\n    out[i + 0 * i] = a[i]\n",
            namespace,
        )
        assert remark(namespace["f"]) == (None, "")


# Indices


@cuda.jit
def lane_for_warp(out, a):
    """Four cells, chosen by a number that goes to 31."""
    cells = cuda.shared.array(4, float32)
    i = cuda.grid(1)
    lane = cuda.threadIdx.x % 32
    if i < a.size:
        cells[lane] = a[i]
        out[i] = cells[0]


@cuda.jit
def below_zero(out, a):
    """Reads the tile before its first cell."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[t - 2]


@cuda.jit
def same_in_all_blocks(out, a):
    """Blocks write the same elements."""
    t = cuda.threadIdx.x
    out[t] = a[t]


@cuda.jit
def different_values(out, a):
    """Two threads write different values to one element."""
    i = cuda.grid(1)
    if i < a.size:
        out[i // 2] = a[i]


@cuda.jit
def two_lines(out, a):
    """The halo lands on the tile's own last cell, and the last but one cell is left out."""
    tile = cuda.shared.array(34, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    if t < 2:
        tile[31 + t] = a[32 + t]
    cuda.syncthreads()
    out[t] = tile[t + 2]


class TestIndices:
    """Indices that are not what they are for."""

    def test_too_large_for_a_shared_array(self):
        """Its greatest value stands beside the array's size."""
        cause, text = remark(lane_for_warp)
        assert cause == "index-too-large"
        assert text.startswith(
            "the index `lane` goes up to 31 on this line, and cells has 4 places, 0 to 3"
        )

    def test_below_zero(self):
        """A shared array read before its first cell: the index is quoted with its lowest value."""
        cause, text = remark(below_zero, grid=(1,))
        assert cause == "negative-index"
        line = line_of(below_zero, "tile[t - 2]")
        assert text.startswith(f"the index `t - 2` on line {line} begins at -2, and tile at 0")

    def test_same_in_all_blocks(self):
        """Who writes the same value to the same element is a warning, and explains what is left."""
        case = remark(same_in_all_blocks)
        assert case[0] == "same-element"
        assert "`t` is the same for thread 0 of block 1 and thread 0 of block 0" in case[1]

    def test_different_values(self):
        """So is a race between stores."""
        cause, text = remark(different_values)
        assert cause == "same-element"
        assert "`i // 2` is the same for thread 1 of block 0 and thread 0 of block 0" in text

    def test_two_lines(self):
        """Two lines that meet are both named, and what is left out because of it."""
        cause, text = remark(two_lines, grid=(1,))
        assert cause == "same-element"
        one, other = (line_of(two_lines, mark) for mark in ("tile[t] =", "tile[31 + t]"))
        assert text == (
            f"lines {one} and {other} both fill tile[31], while nobody fills element 33: the index "
            "on one of them is off."
        )


# Shared memory


@cuda.jit
def halo_left_out(out, a):
    """34 cells, 32 threads."""
    tile = cuda.shared.array(34, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[t] + tile[t + 2]


@cuda.jit
def steps_of_one(out, a):
    """A thread's two rows follow each other: threads overlap."""
    tile = cuda.shared.array((4, 16), float32)
    t = cuda.threadIdx.x
    x, y = t % 16, t // 16
    for i in range(2):
        tile[y + i, x] = a[16 * (y + i) + x]
    cuda.syncthreads()
    out[t] = tile[y, x] + tile[y + 2, x]


@cuda.jit
def nothing(out, a):
    """Nobody fills the tile."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    out[t] = tile[t] + a[t]


@cuda.jit
def too_early(out, a):
    """Each round reads what the next one fills."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for i in range(2):
        tile[32 * i + t] = a[t]
        cuda.syncthreads()
        out[t] = tile[63 - 32 * i - t]
        cuda.syncthreads()


@cuda.jit
def only_some_copy(out, a):
    """The copy stands inside a condition."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    if t < 8:
        cuda.copy_dram_to_sram_async(tile, a, 0, 32)
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    out[t] = tile[t]


@cuda.jit
def zero_left_out(out, a):
    """Cells beyond the end are not filled."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < a.size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < out.size:
        out[i] = tile[31 - t]


class TestFilling:
    """Shared memory that is read before it was filled."""

    @pytest.mark.parametrize(
        ("kernel", "cause", "said"),
        [
            (
                halo_left_out,
                "never-filled",
                "line {} fills 32 elements of tile, and nobody fills elements 32 to 33: 34 are "
                "needed and the block has 32 threads, so a thread fills more than one.",
            ),
            (
                steps_of_one,
                "filled-twice",
                "line {} fills 48 elements of tile, and nobody fills row 3. It stores 64 times",
            ),
            (nothing, "nothing-filled", "in this block no thread stores anything to tile"),
            (too_early, "filled-later", "tile[63] is filled, but later, on line {}: "),
            (
                only_some_copy,
                "copy-not-by-all",
                "only 8 of the block's 32 threads take part in the copy on line {}. ",
            ),
            (
                zero_left_out,
                "left-out-by-a-condition",
                "line {} fills tile[31] in block 0. Here it stores 8 times instead of 32: "
                "line {guard}, `if i < a.size:`, keeps it from the rest.",
            ),
        ],
        ids=lambda each: getattr(each, "__name__", None),
    )
    def test_how(self, kernel, cause, said):
        """Which cells, which line, how many threads."""
        grid = (2,) if kernel is zero_left_out else (1,)
        found = remark(kernel, size=SIZE if grid == (2,) else 64, grid=grid)
        marks = ("tile[t] = a", "tile[y + i, x] = a", "tile[32 * i + t] = a", "copy_dram")
        lines = [line for mark in marks if (line := _line(kernel, mark))]
        assert found[0] == cause
        assert found[1].startswith(
            said.format(min(lines, default=0), guard=_line(kernel, "if i < a.size:"))
        )


def _line(kernel, mark):
    """Line of a kernel that holds a text; None where none does."""
    code = kernel.py_func.__code__
    last = max(line for _, _, line in code.co_lines() if line)
    found = line_of(kernel, mark)
    return found if found <= last else None


# Copies


def pipeline(body):
    """A kernel of three tiles of 32 in two buffers, whose loop is given."""
    return "\n".join(
        [
            "@cuda.jit",
            "def kernel(out, a):",
            "    tiles = cuda.shared.array((2, 32), float32)",
            "    t = cuda.threadIdx.x",
            *(f"    {line}" for line in body.strip("\n").splitlines()),
        ]
    )


EARLY = """
cuda.copy_dram_to_sram_async(tiles[0], a, 0, 32)
cuda.cp_async_commit_group()
for n in range(3):
    if n < 2:
        cuda.copy_dram_to_sram_async(tiles[n % 2], a, 32 * n + 32, 32)
    cuda.cp_async_commit_group()
    cuda.cp_async_wait_group(1)
    cuda.syncthreads()
    out[32 * n + t] = tiles[n % 2, t]
    cuda.syncthreads()
"""
OTHER = EARLY.replace("tiles[n % 2], a", "tiles[(n + 1) % 2], a").replace(
    "tiles[n % 2, t]", "tiles[(n + 1) % 2, t]"
)
GROUP = """
cuda.copy_dram_to_sram_async(tiles[0], a, 0, 32)
for n in range(3):
    if n < 2:
        cuda.copy_dram_to_sram_async(tiles[(n + 1) % 2], a, 32 * n + 32, 32)
    cuda.cp_async_commit_group()
    cuda.cp_async_wait_group(1)
    cuda.syncthreads()
    out[32 * n + t] = tiles[n % 2, t]
    cuda.syncthreads()
"""


class TestCopies:
    """Asynchronous copies into buffers."""

    @pytest.mark.parametrize(
        ("body", "cause", "said"),
        [
            (EARLY, "replaced-unread", "the copy goes to where nobody has read yet what line 5 "),
            (OTHER, "other-buffer", "tiles[1] is read while its content is still on its way, and "),
            (GROUP, "one-group", "the copies on lines 5 and 8 are in one group, which line 9 "),
        ],
    )
    def test_buffers(self, body, cause, said, tmp_path):
        """Which buffer, which lines."""
        path = tmp_path / "kernel.py"
        path.write_text(pipeline(body))
        namespace = {"cuda": cuda, "float32": float32}
        exec(compile(pipeline(body), str(path), "exec"), namespace)
        found = remark(namespace["kernel"], size=96, grid=(1,))
        assert found[0] == cause
        assert found[1].startswith(said)


# Cells that nobody wrote


@cuda.jit
def one_too_few(out, a):
    """Leaves out the last element."""
    i = cuda.grid(1)
    if i < out.size - 1:
        out[i] = a[i]


def test_kept_out():
    """The condition of the only line that stores is quoted."""
    cause, text = remark(one_too_few)
    assert cause == "kept-out"
    line = line_of(one_too_few, "out[i] = a[i]")
    assert text == (
        f"only threads that line {line - 1}, `if i < out.size - 1:`, lets through come to line "
        f"{line}, which stores: which thread should write that element, and is it let through?"
    )


@cuda.jit
def sends_away_too_many(out, a):
    """Leaves out the last element, in another way."""
    i = cuda.grid(1)
    if i + 1 >= out.size:
        return
    out[i] = a[i]


def test_kept_out_by_an_early_return():
    """A condition that sends away is quoted as such, not turned round."""
    cause, text = remark(sends_away_too_many)
    assert cause == "kept-out"
    assert "`if i + 1 >= out.size: return`, lets through come to line" in text
