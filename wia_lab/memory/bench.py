"""`wia-lab bench memory`: what each design costs on three recorded traces, and how fast it is."""

from __future__ import annotations

import argparse
import csv
import gc
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

from wia_lab.memory.base import Allocator
from wia_lab.memory.block import Block
from wia_lab.memory.buddy import Buddy
from wia_lab.memory.compaction import Compacting
from wia_lab.memory.heap import Heap
from wia_lab.memory.pages import PageMeter
from wia_lab.memory.pool import Pool
from wia_lab.memory.replay import replay
from wia_lab.memory.ring import PageRing
from wia_lab.memory.sizes import PAGE
from wia_lab.memory.slab import Slab
from wia_lab.memory.trace import RECORDED, Trace, load_trace

__all__ = ["DESIGNS", "Outcome", "curve", "main", "outcome", "pool_hit"]

RANGE = 8 << 30  # bytes: more than any trace needs
OBJECT = 4096  # bytes: the largest block of the curve
CURVE = (1_000, 10_000, 100_000, 1_000_000)
PAIRS = 20_000  # frees and allocations timed at each point of the curve
REPEATS = 3

Make = Callable[[], Allocator]

DESIGNS: dict[str, Make] = {
    "first fit, one range": lambda: Heap(RANGE, fit="first"),
    "best fit, one range": lambda: Heap(RANGE),
    "buddy": lambda: Buddy(Heap(RANGE), RANGE),
    "pool of size classes": lambda: Pool(Heap(RANGE)),
    "page ring": lambda: PageRing(Heap(RANGE, granule=PAGE)),
    "best fit, compacted": lambda: Compacting(Heap(RANGE), eager=True),
}

AT_SIZE: dict[str, Callable[[int], Allocator]] = {
    "first fit": lambda n: Heap(2 * n * OBJECT, fit="first"),
    "best fit": lambda n: Heap(2 * n * OBJECT),
    "buddy": lambda n: Buddy(Heap(size := 1 << (2 * n * OBJECT - 1).bit_length()), size),
    "slab": lambda n: Slab(Heap(2 * n * OBJECT + PAGE), OBJECT),
    "pool": lambda n: Pool(Heap(4 * n * OBJECT)),
    "page ring": lambda n: PageRing(Heap(4 * n * OBJECT + 64 * PAGE, granule=PAGE)),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One design on one trace.

    Attributes
    ----------
    high_water : float
        Highest address used / peak live bytes.
    pages : float
        Most 2 MiB pages mapped at once, in bytes, / peak live bytes.
    reserved : float
        Of these two the one by which the design pays: its own peak reserved / peak live.
    seconds : float
        The fastest of three replays.
    note : str
        What it costs besides.
    """

    high_water: float
    pages: float
    reserved: float
    seconds: float
    note: str


def outcome(make: Make, trace: Trace) -> Outcome:
    """Replay a trace on a fresh allocator: once with a meter, three times for the time."""
    allocator = make()
    moves = isinstance(allocator, Compacting)  # a meter cannot follow blocks that move
    meter = PageMeter(allocator)
    metered = replay(trace, allocator if moves else meter)
    allocator.check()
    with quiet():
        seconds = min(replay(trace, make(), samples=0).seconds for _ in range(REPEATS))
    live, note = metered.peak_live_bytes, ""
    high, pages = metered.statistics.peak_reserved_bytes, meter.peak_mapped * PAGE
    if isinstance(allocator, PageRing):
        high, pages = allocator.address_range, metered.statistics.peak_reserved_bytes
        note = f"{allocator.maps:,} maps, {allocator.views:,} views"
    if isinstance(allocator, Pool | Compacting):
        pages = (
            -(-high // PAGE) * PAGE
        )  # what a pool keeps stays mapped; compacted, no page is free
    if isinstance(allocator, Compacting):
        moved = allocator.moved_bytes / live
        note = f"{allocator.compactions:,} compactions moved {moved:,.1f} × peak live"
    return Outcome(high / live, pages / live, metered.overhead, seconds, note)


def pool_hit(repeats: int = 5, pairs: int = 100_000) -> float:
    """Return the seconds that one hit costs, allocate and free, in the fastest of some runs."""
    pool = Pool(Heap(1 << 30))
    allocate, free = pool.allocate, pool.free
    free(allocate(1 << 20))
    times = []
    with quiet():
        for _ in range(repeats):
            start = time.perf_counter()
            for _ in range(pairs):
                free(allocate(1 << 20))
            times.append(time.perf_counter() - start)
    return min(times) / pairs


def curve(make: Callable[[int], Allocator], sizes: Sequence[int]) -> list[float]:
    """Return the CPU seconds an operation costs at each number of live blocks.

    The blocks have random sizes and a third of them were freed at random places; then pairs of a
    free and an allocation are timed in batches, of which the median counts.
    """
    return [_point(make, live) for live in sizes]


def _point(make: Callable[[int], Allocator], live: int) -> float:
    """Return one point of the curve, in seconds."""
    rng = random.Random(live)  # noqa: S311  the same sizes on every run
    with quiet():
        allocator = make(live)
        blocks = [allocator.allocate(rng.randint(1, OBJECT)) for _ in range(live * 3 // 2)]
        rng.shuffle(blocks)
        for _ in range(live // 2):
            allocator.free(blocks.pop())
        return _cost(allocator, blocks, rng)


def _cost(allocator: Allocator, blocks: list[Block], rng: random.Random) -> float:
    """Return the median CPU seconds of a free or an allocation, the number of blocks constant."""
    times = []
    batch = PAIRS // 20
    for _ in range(20):
        places = [rng.randrange(len(blocks)) for _ in range(batch)]
        wanted = [rng.randint(1, OBJECT) for _ in range(batch)]
        start = time.process_time()
        for place, size in zip(places, wanted, strict=True):
            allocator.free(blocks[place])
            blocks[place] = allocator.allocate(size)
        times.append(time.process_time() - start)
    return statistics.median(times) / (2 * batch)


def bare(live: int) -> float:
    """Return the CPU seconds of half an entry struck and a new one made in a dictionary of `live`.

    No allocator in Python that knows its live blocks can do with less, and this too grows with
    their number: the more there are, the fewer of them lie in the processor's caches.
    """
    rng = random.Random(live)  # noqa: S311  as in _point
    with quiet():
        blocks = [Block(i * OBJECT, OBJECT, OBJECT, None) for i in range(live)]
        rng.shuffle(blocks)
        table = {block.offset: block for block in blocks}
        times = []
        for _ in range(20):
            places = [rng.randrange(live) for _ in range(PAIRS // 20)]
            start = time.process_time()
            for place in places:
                old = blocks[place]
                del table[old.offset]
                blocks[place] = table[old.offset] = Block(old.offset, OBJECT, OBJECT, None)
            times.append(time.process_time() - start)
    return statistics.median(times) / (2 * (PAIRS // 20))


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Python's garbage collector out of what is timed."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def recorded() -> dict[str, tuple[float, str]]:
    """Return what PyTorch's allocator reserved on each trace: MiB, and where that was measured."""
    text = (files("wia_lab.data") / "alloc_traces" / "recorded.csv").read_text()
    rows = csv.DictReader(text.splitlines())
    return {
        row["trace"]: (
            float(row["peak_reserved_mib"]),
            f"torch {row['torch']}, {row['device']}, {row['date']}",
        )
        for row in rows
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables. Exit code 0."""
    options = parser().parse_args(argv)
    _print_designs()
    _say(f"\nA pool hit (allocate + free): {pool_hit() * 1e6:.2f} µs.")
    if not options.no_curve:
        _print_curve([n for n in CURVE if n <= options.most])
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    made = argparse.ArgumentParser(
        prog="wia-lab bench memory",
        description="Peak reserved / peak live on three recorded traces, and costs of operations.",
    )
    made.add_argument("--no-curve", action="store_true", help="leave out cost against live blocks")
    made.add_argument(
        "--most", type=int, default=CURVE[-1], help="most live blocks of the curve (1,000,000)"
    )
    return made


def _print_designs() -> None:
    theirs = recorded()
    _say("Peak reserved / peak live. `range`: highest address; `pages`: 2 MiB pages mapped at")
    _say("once. The design pays by the one marked *. `µs`: of one event, fastest of three replays.")
    for name in RECORDED:
        trace = load_trace(name)
        peak = trace.peak_live_bytes / 2**20
        _say(f"\n{name}: {len(trace.events):,} events, peak live {peak:,.1f} MiB")
        _say(f"  {'design':24} {'range':>9} {'pages':>9} {'s':>8} {'µs':>7}")
        for label, make in DESIGNS.items():
            _say(_row(label, outcome(make, trace), len(trace.events)))
        _done(f"{name} was replayed on each design")
        mib, where = theirs[name]
        _say(f"  {'PyTorch, as recorded':24} {mib / peak:>8.3f}* {'':>9} {'':>8} {'':>7}  {where}")


def _row(label: str, found: Outcome, events: int) -> str:
    by_range = found.reserved == found.high_water
    marks = ("*", " ") if by_range else (" ", "*")
    return (
        f"  {label:24} {found.high_water:>8.3f}{marks[0]} {found.pages:>8.3f}{marks[1]} "
        f"{found.seconds:>8.3f} {found.seconds / events * 1e6:>7.2f}  {found.note}".rstrip()
    )


def _print_curve(sizes: Sequence[int]) -> None:
    costs: dict[str, Callable[[int], float]] = {"a dictionary": bare}
    costs |= {label: partial(_point, make) for label, make in AT_SIZE.items()}
    rows = []
    for label, cost in costs.items():
        rows.append(f"  {label:12}" + "".join(f"{cost(size) * 1e6:>12.2f}" for size in sizes))
        _done(f"{label} was timed with up to {max(sizes, default=0):,} live blocks")
    _say("\nCPU microseconds an operation, against the number of live blocks:")
    _say("  " + f"{'':12}" + "".join(f"{n:>12,}" for n in sizes))
    for row in rows:
        _say(row)


def _done(part: str) -> None:
    """Say on stderr that a part has ended."""
    sys.stderr.write(f"wia-lab: {part}\n")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
