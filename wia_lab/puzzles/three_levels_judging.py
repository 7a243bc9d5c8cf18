"""Judges a product at three levels: whether it is right, and made in the way that was asked for."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from wia_lab.puzzles.compiler import OPENING
from wia_lab.puzzles.puzzle import Diagnosis
from wia_lab.puzzles.three_levels_expected import compared, inputs, is_first_with_copies, way
from wia_lab.puzzles.three_levels_playing import PRODUCTS
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.puzzles.host_puzzle import HostRun, Reply

Wrong = Diagnosis | None

LAUNCHED_IN_BRACKETS = (
    "is of type Tensor, which a kernel cannot take",
    "where libraries of CUDA reach nothing",
)
"""What is said where Numba itself is given a tensor."""

MOST_ELEMENTS = 64  # that a thread makes; more, and most of the device idles
MOST_SPARE = 16  # times as many threads as blocks of 64 × 64 need
BLOCK = 64

CLOSER = {
    "never-zeroed": "Each sum starts from what lay in memory: empty does not zero. Start from 0.",
    "last-term-only": "Each element is its last product alone: add to the sum, do not replace it.",
    "last-term-missing": "Each sum lacks its last product: k goes up to a.shape[1] − 1.",
    "first-term-missing": "Each sum lacks its first product: k starts from 0.",
    "other-extent": "Each sum has a.shape[0] products, and a.shape[1] is how many there are.",
    "rounded-result": "The result was rounded to float16 on the way: take products of float16, and "
    "keep sums and result in float32, which is what Precision.MIXED does.",
    "transposed": "It is the transposed product: which of x and y is the row?",
}


def diagnose(run: HostRun) -> Wrong:
    """Name the first thing that went wrong in a script."""
    if run.replies[0].error is not None:
        reply = run.replies[0]
        return _say(
            run, "crash", f"ThreeLevels() raised {reply.error}: {reply.text}", "crash", reply.line
        )
    for step, reply, seen, (a, b) in zip(
        run.case.steps, run.replies[1:], run.facts["steps"], inputs(run.case), strict=False
    ):
        facts = {**seen, **(compared(step[0], a, b, seen["values"]) if seen.get("fits") else {})}
        for judge in (_stub, _raised, _hazard, _returned, _changed, _way, _values, _threads, _kept):
            found = judge(run, step, reply, facts)
            if found is not None:
                return found
    return None


def _called(step: Any) -> str:
    level, (m, k, n), layout = step
    views = {
        "plain": "",
        "unified": ", in unified memory",
        "turned": ", transposed views",
        "spread": ", views of every second row and third column",
        "inside": ", views of the inside of larger tensors",
    }
    return f"{level}(a of {m} × {k}, b of {k} × {n}{views[layout]})"


def _stub(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    del step, reply
    for launch in facts["launches"]:
        if launch["stub"]:
            text = (
                f"The kernel {launch['name']} is still the stub: write it, as the class is written."
            )
            return _say(run, "stub", text, "kernel", launch["stub"])
    return None


def _raised(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    if reply.error is None:
        return None
    if reply.error == "RefusedError":  # the launch was stopped, for its length
        seen = re.match(r"line (\d+)", reply.text)
        return _threads(run, step, reply, facts) or _say(
            run,
            "no-progress",
            f"{_called(step)}: {reply.text}",
            "kernel",
            int(seen[1]) if seen else reply.line,
        )
    opening = OPENING.match(reply.text)
    if opening is not None:  # the simulator's front end, which knows the line of the kernel
        where, line = f"Line {opening['line']}", int(opening["line"])
        text = f"{where} cannot be compiled: {opening['sentence'].rstrip('.')}."
        return _say(run, "typing", text, "kernel", line)
    sentence = reply.text.strip().partition("\n")[0].rstrip(".")
    text = f"{_called(step)} raised {reply.error}: {sentence}."
    if "keeps sums in float32" in reply.text:
        text += "\nPrecision.MIXED is what is asked for: products of float16, sums in float32."
        return _say(run, "refused", text, "configured-sums", reply.line)
    if "is not possible on" in reply.text:
        text += "\nAsk a.context.device.info.compute_capability before you name an algorithm."
        return _say(run, "refused", text, "not-on-this-device", reply.line)
    if any(said in reply.text for said in LAUNCHED_IN_BRACKETS):
        text += (
            "\nTensors are launched on by wia.launch_kernel(kernel, launch, …), not in brackets."
        )
        return _say(run, "refused", text, "numba-launch", reply.line)
    if reply.error == "InvalidValue":
        return _say(run, "refused", text, "bad-call", reply.line)
    return _say(run, "crash", text, "crash", reply.line)


def _hazard(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    del reply
    if not facts["hazards"]:
        return None
    first = facts["hazards"][0]
    return _say(run, first["kind"], f"{_called(step)}: {first['text']}", None, first["line"])


def _returned(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    del reply
    what = _called(step)
    if not facts["is_tensor"]:
        text = f"{what} returned a {facts['returned']}: return the tensor with the product."
        return _say(run, "no-tensor", text, facts["returned"])
    if facts["closed"]:
        text = f"{what} returned a tensor that was released: whoever asked for it reads it later."
        return _say(run, "no-tensor", text, "closed")
    if facts["elsewhere"]:
        text = f"{what} returned a tensor of another context: make it in a.context."
        return _say(run, "no-tensor", text, "elsewhere")
    if facts["is_input"]:
        text = f"{what} returned memory of a or b: the product needs a tensor of its own."
        return _say(run, "no-tensor", text, "input")
    _, (m, _, n), _ = step
    if facts["shape"] != (m, n):
        text = f"{what} returned shape {facts['shape']}, and the product has {(m, n)}."
        return _say(run, "wrong-shape", text, "shape")
    if facts["dtype"] != "float32":
        text = f"{what} returned {facts['dtype']}: the result is float32 at every level."
        return _say(run, "wrong-type", text, facts["dtype"])
    if not facts["fits"]:
        return _say(run, "crash", f"{what}: reading the result failed: {facts['broken']}", "broken")
    return None


def _changed(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    del reply
    if not facts["changed"]:
        return None
    names = " and ".join(facts["changed"])
    text = f"{_called(step)} changed or released {names}, which are the caller's."
    return _say(run, "input-changed", text, names)


def _way(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    """Whether the machine recorded what the level asks for. Level 3 has gates."""
    del reply
    level, what = step[0], _called(step)
    if facts["calls"]:
        text = f"{what} had the device call the Python function {facts['calls'][0]}, not a kernel."
        return _say(run, "wrong-way", text, "python-function")
    if level == "own":
        return None
    products = [each for each in facts["operations"] if each["name"] in PRODUCTS]
    if len(products) != 1:
        text = (
            f"{what}: the machine recorded {counted(len(products), 'product')} of the library. "
            f"Level {1 if level == 'simple' else 2} is one call of wia.matmul."
        )
        return _say(run, "wrong-way", text, "no-library-product" if not products else "many")
    options = run.case.options
    want, got = way(options["machine"], options.get("device", 0), *step), products[0]
    for key, cause in (("products", "products"), ("sums", "sums"), ("algorithm", "algorithm")):
        if got[key] != want[key]:
            text = f"{what} {_difference(level, key, got[key], want[key])}"
            place = options["machine"], options.get("device", 0)
            if (level, key) == ("configured", "algorithm") and is_first_with_copies(*place):
                text += " This device's compute capability is 8.0, and from 8.0 on includes it."
            return _say(run, "wrong-choice", text, f"{level}-{cause}")
    return None


def _difference(level: str, key: str, got: str, want: str) -> str:
    if key == "products":
        said = f"took products of {got}, and {want} is asked for."
        if level == "simple":
            return f"{said} Level 1 leaves all to the library: wia.matmul(a, b)."
        return f"{said} Precision.MIXED rounds float32 to float16 as it reads."
    if key == "sums":
        return f"kept sums in {got}, and {want} is asked for. What did the precision say?"
    if level == "simple":
        return f"was made by {got}, where the library takes {want} itself. Level 1 names nothing."
    return (
        f"was made by {got}, and {want} is asked for, at every size: AUTO changes with the size, "
        "and what a device cannot do must be known before it is named."
    )


def _values(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    del reply
    _, (m, _, n), _ = step
    if "untouched" in facts:
        return _untouched(run, step, facts)
    if "wrong" not in facts:
        return None
    row, column, got, want = facts["wrong"]
    text = (
        f"{_called(step)}: element [{row}, {column}] is {got:.6g} and must be {want:.6g}; "
        f"{facts['count']:,} of {m * n:,} are wrong."
    )
    suspect = facts["suspect"]
    closer = f"\n{CLOSER[suspect]}" if suspect else ""
    return _say(run, "wrong-value", text + closer, suspect or "value")


def _untouched(run: HostRun, step: Any, facts: Any) -> Wrong:
    _, (m, _, n), _ = step
    row, column, count = facts["untouched"]
    text = (
        f"{_called(step)}: {count:,} of {counted(m * n, 'element')} never written, first "
        f"[{row}, {column}]."
    )
    if not facts["launches"]:
        text += "\nThe machine recorded no launch: wia.launch_kernel(kernel, launch, …) makes one."
        return _say(run, "unwritten", text, "no-launch")
    if len(facts["launches"]) > 1:
        return _say(run, "unwritten", text, "left-out")
    [launch] = facts["launches"]
    x, y, _ = launch["threads"]
    text += f"\n{launch['name']} was launched with {x} × {y} threads, the result is {m} × {n}: "
    if not ((x >= n and y >= m) or (x >= m and y >= n)):
        text += "round the number of blocks up, or give global_size."
        return _say(run, "unwritten", text, "grid-too-small", launch["line"])
    rows, columns = facts["written"]
    reach = (min(m, x), min(n, y)), (min(m, y), min(n, x))  # x is the row, or y
    if (rows, columns) != (m, n) and (rows, columns) in reach:
        text += (
            f"enough one way round, but {rows} rows and {columns} columns were reached. x is the "
            "first of the sizes: is it the kernel's row or its column?"
        )
        return _say(run, "unwritten", text, "axes-swapped", launch["line"])
    text += "there are enough of them, so the kernel leaves elements out. Look at its guard."
    return _say(run, "unwritten", text, "left-out", launch["line"])


def _threads(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    """Whether the launches have a number of threads that goes with the result."""
    del reply
    if step[0] != "own" or not facts["launches"]:
        return None
    _, (m, _, n), _ = step
    threads = sum(math.prod(launch["threads"]) for launch in facts["launches"])
    line = facts["launches"][0]["line"]
    text = (
        f"{_called(step)} launched {counted(threads, 'thread')} for {counted(m * n, 'element')}: "
    )
    if threads * MOST_ELEMENTS < m * n:
        text += "most of the device has nothing to do. Let a thread make one element."
        return _say(run, "wrong-launch", text, "too-few-threads", line)
    if threads > MOST_SPARE * math.prod(BLOCK * math.ceil(side / BLOCK) for side in (m, n)):
        text += "count the blocks from the sizes, which are not always the same."
        return _say(run, "wrong-launch", text, "too-many-threads", line)
    return None


def _kept(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    del reply
    if not facts["overwritten"]:
        return None
    text = (
        f"{_called(step)} changed or released the result of an earlier call, which is the caller's:"
        " each call makes a tensor of its own."
    )
    return _say(run, "side-effect", text, "reused")


def _say(run: HostRun, kind: str, text: str, cause: str | None, line: int | None = None) -> Wrong:
    return Diagnosis(kind, f"Script: {run.case.name}.\n{text}", line, cause)
