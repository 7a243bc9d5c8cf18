"""Every measured figure on a page is that of the run recorded in `wia_lab/data`."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from wia_lab import machines
from wia_lab.puzzles.curriculum import every
from wia_lab.workbook.build import read_notebook

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "wia_lab" / "data"
BYTES = 2 * 4 * 2**28  # that a copy of 2**28 float32 reads and writes
MONTHS = "January February March April May June July August September October November December"


def table(name):
    """When a table was recorded, and its rows."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    return re.search(r"\d{4}-\d\d-\d\d", lines[0] if lines[0][0] == "#" else ""), rows


def day(found):
    """`30 November 2026` for what a head says."""
    year, month, date = map(int, found[0].split("-"))
    return f"{date} {MONTHS.split()[month - 1]} {year}"


RECORDED, KERNELS = table("benchmarks_kernels_h200.csv")
STEP = {(row["topic"], row["step"]): row for row in KERNELS}
HAL = {row["what"]: float(row["value"]) for row in table("overheads_h200.csv")[1]}
SOLVED = {row["kernel"]: float(row["milliseconds"]) for row in table("solutions_h200.csv")[1]}
POOLS = {
    (row["allocator"].split()[0], row["measure"], int(row["bytes"])): float(row["value"])
    for row in table("memory_h200.csv")[1]
}
SILICON = {
    row["kernel"]: int(row["value"])
    for row in table("silicon_h200.csv")[1]
    if row["metric"] == "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
}
TRACES = [
    float(row["peak_reserved_mib"]) / float(row["peak_live_mib"])
    for row in table("alloc_traces/recorded.csv")[1]
]
DAY = {name: day(table(f"{name}_h200.csv")[0]) for name in ("memory", "overheads", "solutions")}
DAY["kernels"] = day(RECORDED)
DRIVEN = f"({DAY['kernels']}, driver 580.159"
NUMBA = f"{DRIVEN}, numba-cuda 0.30.4"


def rate(topic, step):
    """GB/s, or TFLOP/s."""
    return float(STEP[topic, step]["rate"])


def ms(topic, step):
    """Milliseconds."""
    return float(STEP[topic, step]["milliseconds"])


def beside(topic):
    """What was measured beside the kernels of a topic: a copy's rate, or the vendor's library."""
    return next(float(row["beside_rate"]) for row in KERNELS if row["topic"] == topic)


def share(topic, step):
    """`| 1,331 | 0.32 |`: a rate, and its share of what was measured beside it."""
    return f"| {rate(topic, step):,.0f} | {float(STEP[topic, step]['ratio']):.2f} |"


def wait(place):
    """`17 ns`."""
    return f"{rate('hierarchy', f'{place}, latency'):,.0f} ns"


def fast(place):
    """`6.3 TB/s`."""
    return f"{rate('hierarchy', f'{place}, bandwidth') / 1000:.1f} TB/s"


OWN_COPY = f"{beside('copy'):,.0f}"
PLAIN = rate("matmul", "naive")
TILED = rate("matmul", "tiled")
LIBRARY = beside("matmul")
IN_PLACE = HAL["peer memory read in place, over a copy"] * HAL["peer copy, access enabled, HAL"]
DRIVER, TORCH = (
    POOLS[name, measure, 64 << 20]
    for name, measure in (
        ("cuMemAlloc", "allocate+free"),
        ("PyTorch", "caching_allocator_alloc+delete"),
    )
)

MEASURED = {
    1: [
        f"{NUMBA}), where a plain copy reaches {beside('vector-add'):,.0f} GB/s",
        f"as here {share('vector-add', 'one element a thread')}",
        f"four neighbouring elements a thread {share('vector-add', 'four neighbours a thread')}",
        f"before the first sum {share('vector-add', 'independent loads')}",
        f"takes {HAL['launch, Numba']:.0f} µs; at that rate the sums take "
        f"{800 * 12 / rate('vector-add', 'one element a thread') / 1e3:.3f} µs",
    ],
    2: [f"a copy of its own memory moved {OWN_COPY} ({DAY['kernels']})"],
    3: [
        DRIVEN,
        f"| naive, as yours | {PLAIN:.1f} |",
        f"| tiled, 32 × 32 | {TILED:.1f} |",
        f"8 × 8 elements a thread | {rate('matmul', 'double-buffered'):.1f} |",
        f"two blocks together | {rate('matmul', 'two blocks together'):.1f} |",
        f"the loop unrolled | {rate('matmul', 'turned tile, unrolled'):.1f} |",
        f"| cuBLAS, without TF32 | {LIBRARY:.1f} |",
        f"{LIBRARY / TILED:.1f} times.",
    ],
    4: [
        DRIVEN,
        f"| {wait('shared memory')}, {wait('L1')} | {fast('shared memory')}, {fast('L1')} |",
        f"| {wait('L2')} | {fast('L2')} |",
        f"| {wait('HBM')} | {fast('HBM')} |",
        f"| {wait('pinned host')} | {rate('hierarchy', 'pinned host, bandwidth'):.0f} GB/s |",
        f"In {wait('HBM')}",
        f"32 elements apart | {rate('copy', 'strided lanes'):,.0f} |",
        f"side by side | {rate('copy', 'one element a thread'):,.0f} |",
        f"four loads on their way at once | {rate('copy', 'independent loads'):,.0f} |",
        f"{rate('copy', 'one element a thread') / rate('copy', 'strided lanes'):.1f} times.",
    ],
    5: [
        NUMBA,
        f"on an H200 {SILICON['transpose-tile-32']:,} conflicts with rows of 32, and "
        f"{SILICON['transpose-tile-33']} with rows of 33",
        f"writes columns {share('transpose', 'naive')}",
        f"rows of 32 {share('transpose', 'tile')}",
        f"rows of 33 {share('transpose', 'padded tile')}",
        f"four loads on their way at once {share('transpose', 'independent loads')}",
        f"16-byte copies {share('transpose', '16-byte copies')}",
        f"{rate('transpose', 'padded tile') / rate('transpose', 'tile'):.1f} times faster, not 32",
    ],
    6: [
        NUMBA,
        f"| plain | {PLAIN:.1f} | |",
        f"one output a thread | {TILED:.1f} | {TILED / PLAIN:.0f} times |",
        f"without TF32 | {LIBRARY:.1f} | {LIBRARY / PLAIN:.0f} times |",
        f"the time only {TILED / PLAIN:.0f} times",
    ],
    7: [
        NUMBA,
        f"one output a thread | {TILED:.1f} |",
        f"| register tiles | {rate('matmul', 'register tile'):.1f} |",
        f"fetched meanwhile | {rate('matmul', 'double-buffered'):.1f} |",
        f"asynchronous 16-byte copies | {rate('matmul', 'pipeline, 16-byte copies'):.1f} |",
        f"without TF32 | {LIBRARY:.1f} |",
    ],
    8: [
        NUMBA,
        f"five loads an output | {ms('convolution', 'direct'):.3f} |",
        f"one output a thread | {ms('convolution', 'halo tile'):.3f} | slower! |",
        f"eight outputs a thread | {ms('convolution', 'eight outputs a thread'):.3f} |",
        f"as many bytes | {BYTES / beside('convolution') / 1e6:.3f} |",
    ],
    9: [
        NUMBA,
        f"plain loads | {ms('convolution', 'halo tile'):.3f} |",
        f"4 bytes a thread | {SOLVED['async convolution, 5 taps']:.3f} | "
        f"{ms('convolution', 'halo tile') / SOLVED['async convolution, 5 taps']:.2f} times faster",
        f"as many bytes | {SOLVED['cuMemcpyDtoD']:.3f} |",
        f"So {ms('convolution', 'halo tile') / SOLVED['async convolution, 5 taps']:.2f} times",
    ],
    10: [
        NUMBA,
        f"one output a thread {share('convolution', 'halo tile')}",
        f"before the first is used {share('convolution', 'eight outputs a thread')}",
        f"one buffer {share('convolution', 'async, 16-byte copies')}",
        f"four tiles a block {share('convolution', 'pipeline')}",
        f"reached {rate('matmul', 'double-buffered'):.1f} TFLOP/s, with asynchronous 16-byte "
        f"copies {rate('matmul', 'pipeline, 16-byte copies'):.1f}",
    ],
    11: [
        NUMBA,
        *(
            f"{text} | {ms('softmax', step):.3f} | {float(STEP['softmax', step]['ratio']):.2f} |"
            for text, step in (
                ("a thread a row", "a thread a row"),
                ("with 512 threads", "a block a row"),
                ("as it grows", "online"),
                ("read once", "row in registers"),
            )
        ),
        "The first step is worth "
        f"{ms('softmax', 'a thread a row') / ms('softmax', 'a block a row'):.0f} times",
    ],
    12: [
        NUMBA,
        *(
            f"{text} | {ms(topic, apart):.{digits}f} ms | {ms(topic, 'fused'):.{digits}f} ms | "
            f"{ms(topic, apart) / ms(topic, 'fused'):.2f} times"
            for text, topic, apart, digits in (
                ("float32", "axpy", "two kernels", 2),
                ("32 images", "conv-norm-relu-pool", "four kernels", 1),
            )
        ),
        "this convolution "
        f"{beside('convolution-2d') / rate('convolution-2d', 'tiled'):.0f} times faster",
    ],
    18: [],
    20: [
        f"of 64 MiB take {DRIVER:.0f} µs together ({DAY['memory']},",
        f"`cuMemAlloc` + `cuMemFree`, 64 MiB | {DRIVER:.0f} |",
        f"caching allocator | {TORCH:.1f} |",
        f"That is {DRIVER / TORCH:.0f} times, for PyTorch's",
        f"held {TRACES[0]:.2f}, {TRACES[1]:.2f} and {TRACES[2]:.2f} times what was live",
    ],
    24: [
        f"joined by NVLink, on {DAY['overheads']}:",
        f"in place | {IN_PLACE:.0f} |",
        f"access enabled | {HAL['peer copy, access enabled, cuMemcpyPeer']:.0f} |",
        f"goes through the host | {HAL['peer copy, access not enabled, cuMemcpyPeer']:.0f} |",
        f"read and write together | {OWN_COPY} |",
    ],
}

SHEET = machines.device("H200")
OTHERS = {
    2: [f"sheet says {SHEET.memory_bandwidth / 1e9:,.0f} GB/s"],
    3: ["| 1 | `wia", "| 2 | `wia", "| 3 | a kernel", "100 × 130 times 130"],
    4: [
        # The document's own words, and what follows from a sector's size
        "some TB/s",
        "| 1 cycle, tens of TB/s |",
        "1–10 TB/s",
        "0.9–2.5 TB/s",
        "50–100 GB/s",
        '"32 to 128 times faster"',
        "moves 8 times the bytes of",
        "the worst is 32 times.",
    ],
    5: ["not 32 times"],
    6: ["were cut 32 times"],
    7: ["2.8 times to the right"],  # operations a byte, counted
    9: ["document's cycles give 1.18"],
    10: ["reached 0.55."],  # a kernel that is there no more
    12: ["64 × 9 products"],
    20: ['"100 times faster than malloc"'],
    24: [
        '"50 to 100 GB/s"',
        "at 32 GB/s a link",
        "in 0.3 µs; over NVLink it would take 7.3 µs",  # simulated
    ],
}
"""Figures that are no measurements: what the sources say, arithmetic, simulated times."""

FIGURE = re.compile(
    r"\d[\d,.]*\s(?:GB/s|TB/s|TFLOP/s|µs|ms|ns)(?!\w)"  # anywhere
    r"|(?<=\|\s)\d[\d,.]*(?=\s\|)"  # alone in a table's cell
    r"|\d[\d.]*\stimes\b"
)


def pages():
    """Number and markdown cells of every puzzle's page, lines joined."""
    for puzzle in every():
        cells = read_notebook(ROOT / "solutions" / f"{puzzle.stem}.ipynb").cells
        yield puzzle.number, [cell.source for cell in cells if cell.cell_type == "markdown"]


PAGES = {number: cells for number, cells in pages() if number}


def joined(text):
    """Lines of a paragraph joined, so that a figure may stand at a line's end."""
    return re.sub(r"(?<!\|)\n(?![\n|])", " ", text)


@pytest.mark.parametrize(
    ("number", "said"), [(number, said) for number, all_ in MEASURED.items() for said in all_]
)
def test_figure_is_the_recorded_one(number, said):
    """The page has the figure as it follows from the data, once rounded."""
    assert any(said in joined(cell) for cell in PAGES[number]), f"puzzle {number:02d} lacks: {said}"


@pytest.mark.parametrize("number", PAGES)
def test_no_other_figure(number):
    """In a cell about hardware every figure is a recorded one, or named here as none."""
    known = [*MEASURED[number], *OTHERS.get(number, [])]
    unknown = []
    for cell in map(joined, PAGES[number]):
        if not re.search(r"H200|measured|/s\b", cell):
            continue
        spans = [found.span() for said in known for found in re.finditer(re.escape(said), cell)]
        unknown += [
            cell[max(0, found.start() - 40) : found.end()]
            for found in FIGURE.finditer(cell)
            if not any(start <= found.start() and found.end() <= end for start, end in spans)
        ]
    assert unknown == []
