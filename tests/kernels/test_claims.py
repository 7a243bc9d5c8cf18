"""The sources' claims beside what was measured, as `wia-lab bench kernels` prints them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from wia_lab.commands.bench_ladders import kernels
from wia_lab.errors import CannotRun
from wia_lab.kernels import bench, claims, evidence, figures, levels

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "wia_lab" / "data"
SEEDS = ROOT.parent / "shared" / "seeds"
SECTION = re.compile(r"00[01] §\d(\.\d){1,2}|003, [a-z ]+")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
MEASURED = [each for each in claims.CLAIMS if each.measured is not evidence.nothing]
CLOCK = 1.98  # GHz, H200


def cells(name, keys, column):
    """Map the texts in `keys` to the number in `column`, rows as the file has them."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader([line for line in file if not line.startswith("#")])
        return {tuple(row[key] for key in keys): row[column] for row in rows}


def section(claim):
    """The same on every run, unlike a claim's repr."""
    return claim.section


def numbers(name, keys, column):
    """The same where every cell is a number."""
    return {key: float(cell) for key, cell in cells(name, keys, column).items() if cell}


MS = numbers("benchmarks_kernels_h200.csv", ("topic", "step"), "milliseconds")
RATE = numbers("benchmarks_kernels_h200.csv", ("topic", "step"), "rate")
BESIDE = numbers("benchmarks_kernels_h200.csv", ("topic", "step"), "beside_rate")
SOLVED = numbers("solutions_h200.csv", ("kernel",), "milliseconds")
MICRO = numbers("memory_h200.csv", ("allocator", "measure", "bytes"), "value")
OVER = numbers("overheads_h200.csv", ("what",), "value")
COUNTED = cells("silicon_h200.csv", ("kernel", "metric"), "value")


def speedup(topic, slow, fast):
    """Times as fast, from the milliseconds as recorded."""
    return f"{MS[topic, slow] / MS[topic, fast]:.2f} times ("


def counted(kernel, middle):
    """One counter of the profiler."""
    (value,) = (v for (k, metric), v in COUNTED.items() if k == kernel and middle in metric)
    return float(value)


def over_driver(allocator, measure):
    """How many times as fast as the driver, for the three sizes."""
    driver = ("cuMemAlloc", "allocate+free")
    return ", ".join(
        f"{MICRO[(*driver, size)] / MICRO[allocator, measure, size]:.0f}"
        for size in ("4096", "1048576", "67108864")
    )


TILED = 2 * 4096**3 / SOLVED["tiled matmul, 16×16 tiles",] / 1e9  # TFLOP/s
LINK = OVER["peer copy, access enabled, cuMemcpyPeer",]
DETOUR = OVER["peer copy, access not enabled, cuMemcpyPeer",]
POOL = [MICRO["wia_lab Pool", "allocate+free", str(4**n)] for n in (6, 10, 13)]
TORCH = next(allocator for allocator, _, _ in MICRO if allocator.startswith("PyTorch"))
READ = "t_{}_pipe_lsu_mem_global_op_ld.sum"
SHARED = "__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
SECTORS = [
    counted(kernel, "l1tex__" + READ.format("sectors"))
    / counted(kernel, "l1tex__" + READ.format("requests"))
    for kernel in ("strided-32", "strided-1")
]
BEST = ("matmul", "turned tile, unrolled")
IMPLICIT = ("convolution-2d", "implicit product")
PLAIN, LOADS = ("vector-add", "one element a thread"), ("vector-add", "independent loads")
COPIED = SOLVED["async convolution, 5 taps",]
FAR, NEAR, NEAREST = (RATE["hierarchy", f"{level}, latency"] for level in ("HBM", "L2", "L1"))
WIDE = RATE["hierarchy", "HBM, bandwidth"]
HOST = RATE["hierarchy", "pinned host, bandwidth"]

PAGEABLE = OVER["pageable copy to the device, HAL",]
FAULTS, PREFETCHED = (OVER[f"unified memory, {way}",] for way in ("moved by faults", "prefetched"))
BATCHES = [OVER[f"batches, streams: {used}",] for used in (1, 2, 3)]

EXPECTED = [  # what measures, and each text that must stand in what it says
    (
        evidence.tiles,
        f"{MS['matmul', 'naive'] / SOLVED['tiled matmul, 16×16 tiles',]:.1f} times the naive",
        f"{TILED:.2f} TFLOP/s",
        f"{RATE[BEST]:.1f} TFLOP/s, {RATE[BEST] / BESIDE[BEST]:.2f} of cuBLAS",
    ),
    (evidence.full_control, f"reaches {TILED / BESIDE['matmul', 'naive']:.2f} of cuBLAS"),
    (
        evidence.pinned,
        f"{OVER['pinned copy to the device, HAL',] / PAGEABLE:.1f} times: ",
        f"pageable {PAGEABLE:.1f};",
        f"{OVER['pinned copy to the device, HAL',]:.1f} GB/s to the device",
        f"{OVER['pinned copy to the host, HAL',]:.1f} back",
    ),
    (evidence.constant_time, f"{POOL[0]:.2f}, {POOL[1]:.2f}, {POOL[2]:.2f} µs"),
    (evidence.hints, f"{PREFETCHED:.1f} GB/s prefetched", f"{PREFETCHED / FAULTS:.1f} times"),
    (evidence.batches, *(f"{took:.1f}" for took in BATCHES), "on one stream", "on three"),
    (evidence.in_place, f"{OVER['peer memory read in place, over a copy',]:.2f} of a copy's"),
    (evidence.peers, f"{LINK:.0f} GB/s", f"host, {DETOUR:.0f}: {LINK / DETOUR:.1f} times"),
    (
        evidence.coalescing,
        speedup("copy", "strided lanes", "one element a thread"),
        f"{SECTORS[0]:.0f} sectors where lanes are 32 apart, {SECTORS[1]:.0f} side by side",
    ),
    (
        evidence.banks,
        f"{counted('shared-load-stride-2', SHARED) / counted('shared-load-stride-1', SHARED):.0f} ",
    ),
    (
        evidence.padding,
        f"{counted('transpose-tile-32', SHARED) / counted('transpose-tile-33', SHARED):.0f} times",
        speedup("transpose", "tile", "padded tile"),
    ),
    (
        evidence.buffers,
        f"{BATCHES[0]:.1f} ms on one stream",
        speedup("matmul", "register tile", "double-buffered"),
    ),
    (evidence.kinds, f"{WIDE:,.0f} GB/s, {WIDE / HOST:.0f} times", f"memory's {HOST:.0f}"),
    (
        evidence.pool,
        f"{over_driver('wia_lab Pool', 'allocate+free')} times as fast as cuMemAlloc",
        f"allocator {over_driver(TORCH, 'caching_allocator_alloc+delete')};",
    ),
    (
        evidence.choice,
        f"{RATE[BEST] / BESIDE[BEST]:.2f} of cuBLAS",
        f"{RATE[IMPLICIT] / BESIDE[IMPLICIT]:.2f} of cuDNN",
    ),
    (
        evidence.fused,
        speedup("conv-norm-relu-pool", "four kernels", "fused"),
        speedup("axpy", "two kernels", "fused"),
    ),
    (
        evidence.vector_add,
        f"{RATE[PLAIN] / BESIDE[PLAIN]:.2f} of a device copy's",
        f"loads {RATE[LOADS] / BESIDE[LOADS]:.2f}",
    ),
    (
        evidence.launch,
        f"{OVER['launch, launch_kernel_async',]:.0f} µs, {OVER['launch, Numba',]:.0f} by Numba",
    ),
    (
        evidence.wait,
        f"HBM {FAR:.0f} ns, {FAR * CLOCK:.0f} cycles at 1.98 GHz",
        f"L2 {NEAR * CLOCK:.0f} cycles, L1 {NEAREST * CLOCK:.0f}",
    ),
    (
        evidence.asynchronous,
        "1.18 times, 15 % less time",  # 650/550 and 100/650
        f"{MS['convolution', 'halo tile'] / COPIED:.2f} times ({MS['convolution', 'halo tile']:.3f}"
        f" to {COPIED:.3f} ms, two runs)",
        speedup("convolution", "eight outputs a thread", "async, 16-byte copies"),
    ),
    (evidence.busy, "7.7 %", "not measured"),  # 50/650
    (
        evidence.pipeline,
        speedup("convolution", "async, 16-byte copies", "pipeline"),
        speedup("matmul", "double-buffered", "pipeline, 16-byte copies"),
    ),
    (
        evidence.halo,
        "1.6 % more",  # 4 of 256
        speedup("convolution", "direct", "halo tile"),
        speedup("convolution", "direct", "eight outputs a thread"),
    ),
]


class TestClaims:
    """What the sources say, and what was measured."""

    def test_every_claim_names_its_section(self) -> None:
        """Document and section, and no claim stands there twice."""
        assert [each for each in claims.CLAIMS if not SECTION.fullmatch(each.section)] == []
        assert len({(each.section, each.says) for each in claims.CLAIMS}) == len(claims.CLAIMS)

    def test_topics_are_those_of_the_command(self) -> None:
        """A topic that the command refuses would hide its claims."""
        assert {name for each in claims.CLAIMS for name in each.topics} <= set(bench.NAMES)

    @pytest.mark.parametrize(
        ("measured", "texts"),
        [pytest.param(first, rest, id=first.__name__) for first, *rest in EXPECTED],
    )
    def test_figures_are_the_recorded_ones(self, measured, texts) -> None:
        """Computed here from the files, each stands in what is said."""
        said = measured()
        assert [text for text in texts if text not in said] == []

    def test_every_measured_claim_is_computed_again_here(self) -> None:
        """None is left out above."""
        assert {each.measured for each in MEASURED} == {first for first, *_ in EXPECTED}

    @pytest.mark.parametrize(
        "claim", [each for each in MEASURED if each.measured is not evidence.busy], ids=section
    )
    def test_no_measured_figure_is_typed_in(self, claim, monkeypatch) -> None:
        """With other figures in the files, other figures are printed."""
        before = claim.measured()
        read = figures.figure
        found = []

        def other(name, column, **where):
            found.append(3.7 * read(name, column, **where) + 11 * len(found))
            return found[-1]

        for module in (figures, evidence):
            monkeypatch.setattr(module, "figure", other)
        after = claim.measured()
        assert found
        assert set(NUMBER.findall(after)) != set(NUMBER.findall(before))

    def test_a_figure_that_no_table_has_is_told(self) -> None:
        """The sentence names table, columns and the way out."""
        with pytest.raises(CannotRun, match=r"memory_h200\.csv has 0 rows with measure 'melt'"):
            figures.allocation(4096, "melt")
        with pytest.raises(CannotRun, match="has 3 rows with .*, where one is needed"):
            figures.figure(figures.MEMORY, "value", measure="allocate+free", allocator="cuMemAlloc")

    @pytest.mark.skipif(not SEEDS.exists(), reason="the sources are not here")
    @pytest.mark.parametrize("claim", claims.CLAIMS, ids=section)
    def test_the_source_has_the_section_and_the_numbers(self, claim) -> None:
        """Every number of a claim, and its section's heading, stand in the document."""
        (path,) = SEEDS.glob(f"{claim.section[:3]}_*.txt")
        text = path.read_text(encoding="utf-8")
        assert set(NUMBER.findall(claim.says)) <= set(NUMBER.findall(text))
        if "§" in claim.section:
            assert re.search(rf"^{re.escape(claim.section[5:])} ", text, re.MULTILINE)


class TestLevels:
    """The memory hierarchy."""

    def test_measured_beside_the_sources(self) -> None:
        """Each recorded latency, in cycles too, and bandwidth stand in their level's line."""
        lines = levels.render().splitlines()
        names = {key[1].split(", ")[0] for key in RATE if key[0] == "hierarchy"}
        assert {each.recorded for each in levels.LEVELS} == names | {""}
        for each in levels.LEVELS:
            (line,) = (line for line in lines if line.startswith(each.name + " "))
            assert all(text in line for text in (each.latency, each.bandwidth, each.size))
            if each.recorded:
                took = RATE["hierarchy", f"{each.recorded}, latency"]
                assert f"{took:,.1f} ns, {took * CLOCK:,.0f} cycles" in line
                assert f" {RATE['hierarchy', f'{each.recorded}, bandwidth']:,.0f} GB/s" in line
            else:
                assert line.count("not measured") == 2

    @pytest.mark.skipif(not SEEDS.exists(), reason="the sources are not here")
    def test_figures_of_the_sources(self) -> None:
        """Those with numbers stand so in the document's table."""
        (path,) = SEEDS.glob("000_*.txt")
        text = path.read_text(encoding="utf-8")
        quoted = [t for each in levels.LEVELS for t in (each.bandwidth, each.size) if "-" in t]
        exact = [t for t in quoted if t[0].isdigit() and not t.startswith("10s")]
        assert sorted(exact) == ["1-10 TB/s", "16-80 GB", "50-100 GB/s", "900-2500 GB/s"]
        assert [t for t in exact if t not in text] == []

    def test_sizes_of_the_data_sheet(self) -> None:
        """64 Ki registers of 4 bytes, 228 KiB shared, 60 MiB of L2, 141 GB."""
        found = [each.sheet for each in levels.LEVELS]
        assert found == ["256 KiB*", "228 KiB*", "with shared", "60 MiB", "141 GB", ""]


class TestCommand:
    """`wia-lab bench kernels`."""

    def test_prints_all_after_the_table(self) -> None:
        """The recorded table, then the hierarchy, then every claim with its section."""
        output = CliRunner().invoke(kernels, ["--recorded"]).output
        assert (
            output.index("Recorded: ") < output.index(levels.render()) < output.index("000 §4.1:")
        )
        heads = [line for line in output.splitlines() if re.match(r"00[013](,| §)[^:]*: ", line)]
        assert heads == [f"{each.section}: {each.says}" for each in claims.CLAIMS]
        assert output.count("\n    not measured\n") == len(claims.CLAIMS) - len(MEASURED)

    def test_names_the_files_and_their_days(self) -> None:
        """Each table read, with the day in its head."""
        output = " ".join(claims.render().split())
        for name in figures.FILES:
            head = (DATA / name).read_text(encoding="utf-8").split("\n", 1)[0]
            assert f"{name} ({re.search(r'2026-[0-9-]+', head)[0]})" in output

    def test_of_the_topics_named(self) -> None:
        """Claims of other topics are left out; where none is left, so is the rest."""
        output = CliRunner().invoke(kernels, ["copy", "--recorded"]).output
        assert "coalesced" in output
        assert "memory hierarchy" not in output
        assert "a pool is" not in output
        assert claims.render(["softmax"]) == ""
        assert claims.render(["hierarchy"]).startswith(levels.render())

    def test_fits_a_screen(self) -> None:
        """No line of the claims is longer than 100 characters; the table's at most 115."""
        lines = claims.render().splitlines()
        assert max(map(len, lines)) <= 115
        assert max(len(line) for line in lines if line.startswith(("00", "  ", "Fig"))) <= 100
