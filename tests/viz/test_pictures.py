"""Pictures of a report: numbers against NumPy and the report's own counters."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from numba import float32

from wia_lab import cuda, simulate, viz
from wia_lab.errors import WiaLabError
from wia_lab.viz.picture import MOST_BYTES

TILE = 32
WINDOW = TILE + 4


@cuda.jit
def read(out, a, stride, offset):
    i = cuda.grid(1)
    out[i] = a[i * stride + offset]


@cuda.jit
def read_shared(out, stride):
    tile = cuda.shared.array(1024, float32)
    i = cuda.threadIdx.x
    for k in range(i, 1024, 32):
        tile[k] = k
    cuda.syncthreads()
    out[i] = tile[i * stride]


@cuda.jit
def convolve(out, a, taps):
    tile = cuda.shared.array(WINDOW, float32)
    cuda.copy_dram_to_sram_async(tile, a, cuda.blockIdx.x * TILE - 2, WINDOW)
    scale = taps[0] + taps[4]
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.size:
        total = float32(0)
        for k in range(5):
            total += tile[cuda.threadIdx.x + k] * taps[k]
        out[i] = total / scale


@cuda.jit
def nothing(out):
    pass


def convolved():
    return simulate(
        convolve, 3, 32, np.zeros(90, np.float32), np.ones(90, np.float32), np.ones(5, np.float32)
    )


class TestSectors:
    """Lanes, addresses, sectors."""

    @pytest.mark.parametrize("kind", ["uint8", "float16", "float32", "float64", "complex128"])
    @pytest.mark.parametrize(
        ("stride", "offset"), [(0, 0), (1, 0), (1, 3), (3, 1), (8, 0), (32, 5)]
    )
    def test_counts_what_numpy_counts(self, kind, stride, offset):
        """Sectors are the distinct quotients of the bytes by 32, waste is what is left of them."""
        a, out = np.zeros(2048, kind), np.zeros(32, kind)
        report = simulate(read, 1, 32, out, a, stride, offset)
        picture = viz.sectors(report, array="a")
        size = a.dtype.itemsize
        firsts = (np.arange(32) * stride + offset) * size
        touched = np.unique(firsts[:, None] + np.arange(size))
        count = np.unique(touched // 32).size
        assert len(picture.sectors) == count
        asked = picture.requests * count  # a complex number is loaded part by part
        assert picture.requests == (2 if kind == "complex128" else 1)
        assert picture.asked == asked == report.counters.global_load_sectors
        assert (picture.used, picture.wasted) == (touched.size, 32 * asked - touched.size)
        assert f"{32 * asked - touched.size:,} wasted" in str(picture)

    def test_one_lane(self):
        """A block of one thread asks for one sector and wastes 28 bytes."""
        report = simulate(read, 1, 1, np.zeros(1, np.float32), np.zeros(9, np.float32), 1, 0)
        assert viz.sectors(report, array="a").headline() == (
            "1 lane, 1 sector: 32 bytes moved, 4 used, 28 wasted"
        )

    def test_a_launch_without_accesses_gives_a_sentence(self):
        """Nothing to draw is said, with who was asked."""
        report = simulate(nothing, 1, 32, np.zeros(1))
        assert str(viz.sectors(report)) == (
            "Warp 0 of block 0 makes no access in global memory: there is nothing to draw."
        )

    def test_refuses_a_block_that_is_not_there(self):
        """The sentence names the blocks that there are."""
        report = simulate(nothing, 2, 32, np.zeros(1))
        with pytest.raises(WiaLabError, match="blocks 0 to 1"):
            viz.sectors(report, block=2)


class TestBanks:
    """Lanes and banks."""

    @pytest.mark.parametrize("stride", [0, 1, 2, 3, 4, 8, 16, 31])
    def test_counts_what_the_report_counts(self, stride):
        """gcd(stride, 32) lanes share a bank; the report's wavefronts are the picture's."""
        report = simulate(read_shared, 1, 32, np.zeros(32, np.float32), stride)
        picture = viz.banks(report, kind="load")
        expected = np.gcd(stride, 32) if stride else 1
        assert picture.wavefronts == expected == report.counters.shared_load_wavefronts
        assert picture.conflicts == expected - 1 == report.counters.shared_load_bank_conflicts
        assert picture.broadcasts == (stride == 0)

    def test_without_shared_memory_there_is_a_sentence(self):
        """A report with no shared memory says so."""
        report = simulate(read, 1, 32, np.zeros(32), np.zeros(32), 1, 0)
        assert "no access in shared memory" in str(viz.banks(report))


class TestLines:
    """The annotated listing and the walk of a warp."""

    def test_listing_carries_the_counters(self):
        """Columns add up to the launch's totals."""
        report = convolved()
        listing = viz.listing(report)
        total = {
            n: sum(line.counts[k] for line in listing.lines) for k, n in enumerate(listing.columns)
        }
        assert total["load sectors"] == report.counters.global_load_sectors
        assert total["barriers"] == report.counters.barriers == 3
        assert total["async copies"] == report.counters.async_copies

    def test_a_kernel_of_two_thousand_lines(self, tmp_path):
        """Its busiest lines are shown, the others told in a sentence, within the size."""
        body = "".join(f"    out[i] = out[i] + {n}\n" for n in range(2000))
        path = tmp_path / "long_kernel.py"
        path.write_text(f"def long_kernel(out):\n    i = cuda.grid(1)\n{body}")
        names = {"cuda": cuda}
        exec(compile(path.read_text(), str(path), "exec"), names)
        listing = viz.listing(simulate(names["long_kernel"], 1, 32, np.zeros(32, np.float32)))
        assert len(listing.lines) == 60
        assert "1,941 more lines did less, or nothing." in str(listing)
        assert len(listing.html()) < MOST_BYTES

    def test_divergence_marks_the_lanes(self):
        """In the last block, lanes 0 to 25 of 32 have an element: 90 = 2 × 32 + 26."""
        picture = viz.divergence(convolved(), block=2)
        [row] = [row for row in picture.rows if row.text.startswith("out[i]")]
        assert row.active == (True,) * 26 + (False,) * 6
        assert f"{'#' * 26}{'.' * 6}  26 lanes" in str(picture)

    def test_a_walk_has_its_last_step(self):
        """A kernel of one line is walked in one step."""

        @cuda.jit
        def one_line(out):
            out[cuda.threadIdx.x] = 1

        picture = viz.divergence(simulate(one_line, 1, 4, np.zeros(4)))
        assert [row.text for row in picture.rows] == ["out[cuda.threadIdx.x] = 1"]
        assert "1 line in order, 1 of them by a part of its lanes" in str(picture)


class TestTilesAndFlight:
    """What a block reads, and what runs while copies are under way."""

    def test_tile_and_halo(self):
        """A block in the middle reads its 32 elements and two on either side, once each."""
        text = str(viz.tile(convolved(), block=1))
        assert "a: 36 of 90 elements read, once each; 32 in its own tile, 4 in the halo" in text

    def test_a_matrix_in_fortran_order(self):
        """Elements are found by the array's own strides."""

        @cuda.jit
        def first_row(out, a):
            out[cuda.threadIdx.x] = a[0, cuda.threadIdx.x]

        a = np.asfortranarray(np.zeros((3, 4), np.float32))
        picture = viz.tile(simulate(first_row, 1, 4, np.zeros(4, np.float32), a))
        assert picture.arrays[0][1].tolist() == [[1, 1, 1, 1], [0] * 4, [0] * 4]

    def test_an_array_without_dimensions(self):
        """Its one element is read once."""

        @cuda.jit
        def copy(out, a):
            out[()] = a[()]

        picture = viz.tile(simulate(copy, 1, 1, np.zeros(()), np.ones(())))
        assert "a: 1 of 1 element read, once each" in str(picture)

    def test_flight_tells_issue_and_wait(self):
        """Two loads of taps a warp run between the copies and their wait: two copies a warp."""
        report = convolved()
        [copy] = report.async_timeline
        text = str(viz.in_flight(report))
        assert f"issued on line {copy.issued}, waited for on line {copy.waited}" in text
        assert "meanwhile 12 loads" in text  # 2 loads × 2 copies × 3 warps

    def test_without_copies_there_is_a_sentence(self):
        """A kernel that copies nothing says so."""
        report = simulate(nothing, 1, 1, np.zeros(1))
        assert str(viz.in_flight(report)) == "nothing issues no asynchronous copy."


class TestEveryPicture:
    """Promises that all pictures keep."""

    @pytest.fixture(
        params=["sectors", "banks", "divergence", "listing", "tile", "in_flight", "roofline"]
    )
    def picture(self, request):
        """One picture of the convolution."""
        report = convolved()
        if request.param == "roofline":
            return viz.roofline({"convolve": report})
        return getattr(viz, request.param)(report)

    def test_is_small_well_formed_and_named(self, picture):
        """Under 300 kB; an svg is XML with a label for screen readers, and has no fixed ink."""
        bundle = picture._repr_mimebundle_()
        assert len(bundle["text/html"]) < MOST_BYTES
        assert bundle["text/plain"] == str(picture)
        drawing = picture.drawing()
        if "<svg" in drawing:
            root = ET.fromstring(drawing)
            assert root.get("aria-label")
            assert root.get("role") == "img"
            assert "#000000" not in drawing
        # the image carries no number that its text twin lacks, headings apart
        assert re.search(r"\d", str(picture))

    def test_the_same_report_gives_the_same_picture(self, picture):
        """Nothing random and no date is in it."""
        assert picture.html() == picture.html()

    def test_what_was_drawn_leaves_the_arrays_alone(self):
        """Pictures run the launch again on copies."""
        out = np.zeros(32, np.float32)
        report = simulate(read, 1, 32, out, np.ones(32, np.float32), 1, 0)
        out[:] = 7
        viz.sectors(report).html()
        viz.tile(report).html()
        assert (out == 7).all()

    def test_roofline_without_arithmetic_is_a_sentence(self):
        """A copy has no place on a roofline."""
        report = simulate(nothing, 1, 1, np.zeros(1))
        assert "no roofline" in str(viz.roofline({"nothing": report}))
