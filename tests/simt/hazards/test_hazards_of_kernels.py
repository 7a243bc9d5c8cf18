"""Whole kernels: correct ones are silent; with one fault planted each is told what is wrong.

A fault is planted by changing one piece of a correct kernel's source, so each stands beside the
kernel without it. `line of` the marked statement is looked up in the changed source.
"""

from __future__ import annotations

import linecache
import textwrap

import numpy as np
import pytest

from wia_lab import cuda
from wia_lab.simt.launch import simulate

SOURCES = {
    "reverse": """
        def kernel(out, a):
            s = cuda.shared.array(64, np.int32)
            t = cuda.threadIdx.x
            i = cuda.grid(1)
            s[t] = a[i]
            cuda.syncthreads()
            out[i] = s[63 - t]
    """,
    "tree": """
        def kernel(out, a):
            s = cuda.shared.array(128, np.int32)
            t = cuda.threadIdx.x
            s[t] = a[cuda.grid(1)]
            cuda.syncthreads()
            half = 64
            while half > 0:
                if t < half:
                    s[t] += s[t + half]
                cuda.syncthreads()
                half //= 2
            if t == 0:
                out[cuda.blockIdx.x] = s[0]
    """,
    "matmul": """
        def kernel(c, a, b):
            sa = cuda.shared.array((8, 8), np.float32)
            sb = cuda.shared.array((8, 8), np.float32)
            x, y = cuda.grid(2)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            acc = np.float32(0)
            for k in range(0, a.shape[1], 8):
                sa[ty, tx] = a[y, k + tx]
                sb[ty, tx] = b[k + ty, x]
                cuda.syncthreads()
                for j in range(8):
                    acc += sa[ty, j] * sb[j, tx]
                cuda.syncthreads()
            c[y, x] = acc
    """,
    "transpose": """
        def kernel(out, a):
            tile = cuda.shared.array((8, 9), np.float32)
            x, y = cuda.grid(2)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            tile[ty, tx] = a[y, x]
            cuda.syncthreads()
            out[cuda.blockIdx.x * 8 + ty, cuda.blockIdx.y * 8 + tx] = tile[tx, ty]
    """,
    "scan": """
        def kernel(out, a):
            s = cuda.shared.array((2, 64), np.int32)
            t = cuda.threadIdx.x
            now = 0
            s[0, t] = a[cuda.grid(1)]
            cuda.syncthreads()
            step = 1
            while step < 64:
                value = s[now, t]
                if t >= step:
                    value += s[now, t - step]
                s[1 - now, t] = value
                cuda.syncthreads()
                now = 1 - now
                step *= 2
            out[cuda.grid(1)] = s[now, t]
    """,
    "histogram": """
        def kernel(out, a):
            bins = cuda.shared.array(16, np.int32)
            t = cuda.threadIdx.x
            if t < 16:
                bins[t] = 0
            cuda.syncthreads()
            cuda.atomic.add(bins, a[cuda.grid(1)] % 16, 1)
            cuda.syncthreads()
            if t < 16:
                cuda.atomic.add(out, t, bins[t])
    """,
    "halo": """
        def kernel(out, a):
            s = cuda.shared.array(66, np.int32)
            t = cuda.threadIdx.x
            i = cuda.grid(1)
            s[t + 1] = a[i]
            if t == 0:
                s[0] = a[i - 1] if i > 0 else 0
            if t == 63:
                s[65] = a[i + 1] if i + 1 < a.size else 0
            cuda.syncthreads()
            out[i] = s[t] + s[t + 1] + s[t + 2]
    """,
    "warp sum": """
        def kernel(out, a):
            s = cuda.shared.array(2, np.int32)
            t = cuda.threadIdx.x
            value = a[cuda.grid(1)]
            step = 16
            while step > 0:
                value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
                step //= 2
            if cuda.laneid == 0:
                s[t // 32] = value
            cuda.syncthreads()
            if t == 0:
                out[cuda.blockIdx.x] = s[0] + s[1]
    """,
    "warp tile": """
        def kernel(out, a):
            s = cuda.shared.array(64, np.int32)
            t = cuda.threadIdx.x
            i = cuda.grid(1)
            s[t] = a[i]
            cuda.syncwarp()
            out[i] = s[t ^ 1]
    """,
    "lock": """
        def kernel(out, lock):
            if cuda.threadIdx.x == 0:
                while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                    pass
                cuda.threadfence()
                out[0] += 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
    """,
    "last block": """
        def kernel(out, a, partial, count):
            s = cuda.shared.array(64, np.int32)
            last = cuda.shared.array(1, np.int32)
            t = cuda.threadIdx.x
            s[t] = a[cuda.grid(1)]
            cuda.syncthreads()
            if t == 0:
                total = 0
                for j in range(64):
                    total += s[j]
                partial[cuda.blockIdx.x] = total
                cuda.threadfence()
                last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
            cuda.syncthreads()
            if last[0] and t == 0:
                total = 0
                for j in range(cuda.gridDim.x):
                    total += partial[j]
                out[0] = total
                count[0] = 0
    """,
    "chained scan": """
        def kernel(out, a, flag, prefix):
            s = cuda.shared.array(64, np.int32)
            before = cuda.shared.array(1, np.int32)
            t, b = cuda.threadIdx.x, cuda.blockIdx.x
            s[t] = a[cuda.grid(1)]
            cuda.syncthreads()
            if t == 0:
                total = 0
                for j in range(64):
                    total += s[j]
                before[0] = 0
                if b > 0:
                    while cuda.atomic.add(flag, b - 1, 0) == 0:
                        pass
                    before[0] = prefix[b - 1]
                prefix[b] = before[0] + total
                cuda.threadfence()
                cuda.atomic.exch(flag, b, 1)
            cuda.syncthreads()
            out[cuda.grid(1)] = before[0] + s[t]
    """,
    "warp flag": """
        def kernel(out):
            s = cuda.shared.array(32, np.int32)
            flag = cuda.shared.array(1, np.int32)
            t = cuda.threadIdx.x
            if t == 0:
                flag[0] = 0
            cuda.syncthreads()
            if t < 32:
                s[t] = t
                cuda.syncwarp()
                if t == 0:
                    cuda.threadfence_block()
                    cuda.atomic.exch(flag, 0, 1)
            else:
                while cuda.atomic.add(flag, 0, 0) == 0:
                    pass
                out[t - 32] = s[63 - t]
    """,
    "grid sync": """
        def kernel(out, a):
            i = cuda.grid(1)
            a[i] = i
            cuda.cg.this_grid().sync()
            out[i] = a[a.size - 1 - i]
    """,
    "async": """
        def kernel(out, a):
            s = cuda.shared.array(64, np.float32)
            t = cuda.threadIdx.x
            i = cuda.grid(1)
            cuda.cp_async(s, t, a, i)
            cuda.cp_async_commit_group()
            cuda.cp_async_wait_group(0)
            cuda.syncthreads()
            out[i] = s[63 - t]
    """,
    "pipeline": """
        def kernel(out, a):
            s = cuda.shared.array((2, 64), np.float32)
            t = cuda.threadIdx.x
            cuda.cp_async(s, (0, t), a, t)
            cuda.cp_async_commit_group()
            tiles = a.size // 64
            for n in range(tiles):
                if n + 1 < tiles:
                    cuda.cp_async(s, ((n + 1) % 2, t), a, (n + 1) * 64 + t)
                    cuda.cp_async_commit_group()
                    cuda.cp_async_wait_group(1)
                else:
                    cuda.cp_async_wait_group(0)
                cuda.syncthreads()
                out[n * 64 + t] = s[n % 2, 63 - t]
                cuda.syncthreads()
    """,
}

I32, F32 = np.int32, np.float32


def launch(name):
    """Grid, block and arguments of a kernel."""
    row = np.arange(512, dtype=I32)
    square = np.arange(576, dtype=F32).reshape(24, 24)
    zeros = {size: np.zeros(size, I32) for size in (1, 8, 16, 512)}
    return {
        "tree": (4, 128, np.zeros(4, I32), row),
        "matmul": ((3, 3), (8, 8), np.zeros_like(square), square, square),
        "transpose": ((3, 3), (8, 8), np.zeros_like(square), square),
        "histogram": (8, 64, zeros[16], row),
        "lock": (8, 32, zeros[1], np.zeros(1, I32)),
        "last block": (8, 64, zeros[1], row, zeros[8], np.zeros(1, I32)),
        "chained scan": (8, 64, zeros[512], row, zeros[8], np.zeros(8, I32)),
        "warp flag": (1, 64, np.zeros(32, I32)),
        "async": (8, 64, np.zeros(512, F32), row.astype(F32)),
        "pipeline": (1, 64, np.zeros(512, F32), row.astype(F32)),
    }.get(name, (8, 64, zeros[512], row))


def judge(name, old="", new=""):
    """Hazards of a kernel in which `old` was replaced by `new`, and its source's lines."""
    source = textwrap.dedent(SOURCES[name]).strip() + "\n"
    if old:
        assert source.count(old) >= 1
        place = source.rindex(old) if new.startswith("#last ") else source.index(old)
        new = new.removeprefix("#last ")
        source = source[:place] + new + source[place + len(old) :]
    file = f"<{name} {abs(hash((old, new)))}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"cuda": cuda, "np": np}
    exec(compile(source, file, "exec"), names)
    report = simulate(names["kernel"], *launch(name))
    return list(report.hazards), source.splitlines()


SYNC, FENCE = "cuda.syncthreads()", "cuda.threadfence()"
FAULTS = [
    ("reverse", SYNC, "pass", "race", "s[63 - t]"),
    ("reverse", SYNC, "cuda.syncwarp()", "race", "s[63 - t]"),
    ("reverse", SYNC, FENCE, "race", "s[63 - t]"),
    ("reverse", "s[t] = a[i]", "s[0] = a[i]", "race", "s[0] = a[i]"),
    ("reverse", "s[63 - t]", "s[64 - t]", "out-of-bounds", "s[64 - t]"),
    ("reverse", SYNC, f"if t < 32:\n        {SYNC}", "divergent-barrier", SYNC),
    ("reverse", "out[i]", "out[t]", "race", "out[t]"),
    ("tree", SYNC, "pass", "race", "s[t] += s[t + half]"),
    ("tree", SYNC, "#last pass", "race", "s[t] += s[t + half]"),
    ("tree", "if t < half:", "if t <= half:", "race", "s[t] += s[t + half]"),
    ("tree", "half = 64", "half = 128", "out-of-bounds", "s[t] += s[t + half]"),
    (
        "tree",
        f"        {SYNC}\n        half",
        f"            {SYNC}\n        half",
        "divergent-barrier",
        SYNC,
    ),
    ("tree", "if t == 0:\n        out", "if t >= 0:\n        out", "write-overlap", "out["),
    ("matmul", SYNC, "pass", "race", "acc +="),
    ("matmul", SYNC, "#last pass", "race", "sa[ty, tx] ="),
    ("matmul", "sb[ty, tx] =", "sb[tx, tx] =", "race", "sb[tx, tx] ="),
    ("matmul", "range(8)", "range(9)", "out-of-bounds", "acc +="),
    (
        "matmul",
        "(8, 8), np.float32)\n    sb",
        "(7, 8), np.float32)\n    sb",
        "out-of-bounds",
        "sa[",
    ),
    ("transpose", SYNC, "pass", "race", "tile[tx, ty]"),
    ("transpose", "(8, 9)", "(8, 7)", "out-of-bounds", "tile[ty, tx]"),
    ("transpose", "tile[tx, ty]", "tile[tx, ty + 1]", "uninitialised-read", "tile[tx, ty + 1]"),
    ("scan", "s[1 - now, t] = value", "s[now, t] = value", "race", "s[now, t]"),
    ("scan", SYNC, "#last pass", "race", "s["),
    ("histogram", SYNC, "pass", "race", "cuda.atomic.add(bins"),
    ("histogram", SYNC, "#last pass", "race", "bins[t]"),
    (
        "histogram",
        "cuda.atomic.add(bins, a[cuda.grid(1)] % 16, 1)",
        "bins[a[cuda.grid(1)] % 16] += 1",
        "race",
        "bins[a[",
    ),
    ("histogram", "if t < 16:", "if t < 8:", "uninitialised-read", "cuda.atomic.add(bins"),
    ("histogram", "cuda.atomic.add(out, t, bins[t])", "out[t] += bins[t]", "race", "out[t] +="),
    ("halo", SYNC, "pass", "race", "s[t] + s[t + 1]"),
    ("halo", "s[0] = a[i - 1] if i > 0 else 0", "pass", "uninitialised-read", "s[t] + s[t + 1]"),
    ("halo", "a[i + 1] if i + 1 < a.size else 0", "a[i + 1]", "out-of-bounds", "a[i + 1]"),
    ("halo", "array(66", "array(65", "out-of-bounds", "s["),
    ("warp sum", SYNC, "pass", "race", "s[0] + s[1]"),
    ("warp sum", "if cuda.laneid == 0:", "if cuda.laneid < 2:", "race", "s[t // 32] ="),
    ("warp tile", "cuda.syncwarp()", "pass", "race", "s[t ^ 1]"),
    ("warp tile", "s[t ^ 1]", "s[t ^ 32]", "race", "s[t ^ 32]"),
    ("lock", FENCE, "#last pass", "race", "out[0] += 1"),
    (
        "lock",
        "while cuda.atomic.cas(lock, 0, 0, 1) != 0:\n            pass",
        "pass",
        "race",
        "out[0] += 1",
    ),
    ("last block", FENCE, "pass", "race", "total += partial[j]"),
    ("last block", FENCE, "cuda.threadfence_block()", "race", "total += partial[j]"),
    (
        "last block",
        "cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1",
        "1",
        "race",
        "total += partial[j]",
    ),
    ("chained scan", FENCE, "pass", "race", "prefix[b - 1]"),
    ("chained scan", SYNC, "#last pass", "race", "before[0] + s[t]"),
    (
        "chained scan",
        "while cuda.atomic.add(flag, b - 1, 0) == 0:\n                pass",
        "pass",
        "race",
        "prefix[b]",
    ),
    ("warp flag", "cuda.syncwarp()", "pass", "race", "s[63 - t]"),
    ("warp flag", "cuda.threadfence_block()", "pass", "race", "s[63 - t]"),
    ("warp flag", "flag[0] = 0", "pass", "uninitialised-read", "cuda.atomic."),
    ("grid sync", "cuda.cg.this_grid().sync()", SYNC, "race", "a[a.size"),
    ("async", SYNC, "pass", "async-copy", "s[63 - t]"),
    ("async", "cuda.cp_async_wait_group(0)", "pass", "async-copy", "s[63 - t]"),
    ("async", "cuda.cp_async_commit_group()", "pass", "async-copy", "s[63 - t]"),
    (
        "async",
        "cuda.cp_async_wait_group(0)",
        "cuda.cp_async_wait_group(1)",
        "async-copy",
        "s[63 - t]",
    ),
    (
        "async",
        "cuda.cp_async(s, t, a, i)",
        "cuda.cp_async(s, t, a, i + 1)",
        "out-of-bounds",
        "cuda.cp_async(s",
    ),
    ("pipeline", "wait_group(1)", "wait_group(2)", "async-copy", "s[n % 2"),
    ("pipeline", SYNC, "pass", "async-copy", "s[n % 2"),
    ("pipeline", SYNC, "#last pass", "async-copy", "cuda.cp_async(s, ((n + 1)"),
    ("pipeline", "((n + 1) % 2, t)", "(n % 2, t)", "async-copy", "cuda.cp_async(s, (n % 2"),
]
ALSO = {
    ("reverse", "s[0] = a[i]"): "uninitialised-read",  # the other cells are never written
    ("tree", "if t <= half:"): "out-of-bounds",
    ("matmul", "sb[tx, tx] ="): "uninitialised-read",
    ("scan", "s[now, t] = value"): "uninitialised-read",
}
"""Faults that do two kinds of harm."""


@pytest.mark.parametrize("name", SOURCES)
def test_correct_kernels_are_silent(name):
    """A correct kernel has no hazard of severity error, and no race of any."""
    found, _ = judge(name)
    assert [each.message for each in found if each.kind != "no-progress"] == []


@pytest.mark.parametrize(
    ("name", "old", "new", "kind", "at"),
    FAULTS,
    ids=[f"{name}: {kind} {place}" for place, (name, _, _, kind, _) in enumerate(FAULTS)],
)
def test_planted_faults_are_found(name, old, new, kind, at):
    """The fault's kind is reported at its line, and no other kind of error."""
    found, lines = judge(name, old, new)
    assert [each for each in found if each.kind == kind and at in lines[each.line - 1]], [
        str(each) for each in found
    ]
    errors = {each.kind for each in found if each.severity == "error"}
    assert errors - {kind, ALSO.get((name, new))} == set()
