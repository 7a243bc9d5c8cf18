"""The answers printed in docs/teachers.md are those that the demos give."""

from __future__ import annotations

from pathlib import Path

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


def test_every_demo_is_named():
    """Each demo's notebook is on the page."""
    text = PAGE.read_text(encoding="utf-8")
    folder = PAGE.parents[1] / "notebooks" / "demos"
    for path in folder.glob("*.ipynb"):
        assert path.stem in text, path.stem
