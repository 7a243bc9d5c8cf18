"""The answers printed in docs/teachers.md are those that the demos give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wia_lab.viz import demos

PAGE = Path(__file__).parents[2] / "docs" / "teachers.md"


def test_the_votes():
    """Sectors for five strides and an offset, wavefronts with and without padding."""
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    demo, counts = demos.WarpExplorer(), []
    for stride in (1, 2, 4, 8, 32):
        demo.controls["stride"].value = stride
        counts.append(demo.shown.asked)
    assert f"touch {', '.join(map(str, counts[:-1]))} and {counts[-1]} sectors" in text
    demo.controls["stride"].value = demo.controls["offset"].value = 1
    assert f"stride 1 with offset 1 touches {demo.shown.asked}." in text
    demo.controls["size"].value = 8
    demo.controls["stride"].value = 32
    assert demo.shown.asked == 32
    banks = demos.BankExplorer()
    column = banks.shown.wavefronts
    banks.controls["padding"].value = 1
    padded = banks.shown.wavefronts
    assert f"Stride 32 takes {column} wavefronts, and {padded} with padding 1" in text
    banks.controls["padding"].value = banks.controls["stride"].value = 0
    assert f"stride 0 takes {banks.shown.wavefronts}," in text
    banks.reset.click()
    banks.controls["stride"].value, banks.controls["width"].value = 32, 8
    found = []
    for padding in (2, 1):
        banks.controls["padding"].value = padding
        found.append(banks.shown.wavefronts)
    assert found[1] == 2  # 32 elements of 8 bytes fill two wavefronts
    assert f"8-byte elements takes {found[0]} wavefronts where {found[1]} would do" in text


def test_the_votes_on_whole_kernels():
    """Collatz's slowest lane, what a block fetches, the roofline's marks, the streams."""
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    rounds = [0] * 32
    for lane in range(32):
        n = lane + 1
        while n > 1:
            n, rounds[lane] = n // 2 if n % 2 == 0 else 3 * n + 1, rounds[lane] + 1
    slowest = max(range(32), key=rounds.__getitem__)
    assert f"lane {slowest} leaves the loop last, after {rounds[slowest]} rounds" in text
    assert "reads 64 elements of a, 64 times" in str(demos.TileStepper().shown)
    roof = str(demos.RooflineDemo().shown)
    naive, tiled = re.findall(r"([\d.]+) FLOP a byte, ([\d.]+) GFLOP/s", roof)
    assert f"({tiled[0]} operations a byte beside {naive[0]}) and higher" in text
    assert float(tiled[1]) > float(naive[1])
    demo, whole = demos.StreamTimeline(), []
    for streams in (1, 3, 4):
        demo.controls["streams"].value = streams
        whole.append(re.search(r"([\d,]+)\.\d µs in all", str(demo.shown))[1])
    assert f"One stream takes {whole[0]} µs, three take {whole[1]}, and a fourth" in text
    assert whole[1] == whole[2]


BREAKS = [
    (demos.WarpExplorer, "offset]", "offset + 100000]", "out-of-bounds"),
    (demos.TileStepper, "cuda.syncthreads()\n    c[", "pass\n    c[", "race"),
    (
        demos.StreamTimeline,
        "gpu.download(stream, batch)",
        "gpu.download((stream + 1) % 3, batch)",
        "6 hazards",
    ),
]


@pytest.mark.parametrize(("demo", "old", "new", "said"), BREAKS, ids=[b[3] for b in BREAKS])
def test_what_is_broken_live_is_told(demo, old, new, said):
    """Each breakage of the plan gets the diagnosis that the question is about."""
    shown = demo()
    assert shown.source.count(old) == 1
    shown.editor.value = shown.source.replace(old, new)
    assert said in str(shown.shown)


def test_every_demo_is_named():
    """Each demo's notebook is on the page."""
    text = PAGE.read_text(encoding="utf-8")
    folder = PAGE.parents[1] / "notebooks" / "demos"
    for path in folder.glob("*.ipynb"):
        assert path.stem in text, path.stem
