"""What a report says, in a terminal and in a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

from wia_lab.simt.counters import Counters
from wia_lab.simt.events import Access, Chunk, Launch, Site
from wia_lab.simt.memory import Space
from wia_lab.simt.nsight import METRICS
from wia_lab.simt.report import build_report

FILE = "cell.py"
LOAD, STORE = Site(0, 3, FILE, "kernel"), Site(1, 5, FILE, "kernel")
TEXT = {(FILE, 3): 'tile[t] = a["<i>"]', (FILE, 5): "o[i] = tile[31 - t]"}


def array(name, number, kind="global"):
    data = np.zeros(128 * 32, np.uint8)
    dtype = np.dtype("float32")
    return Space(kind, name, dtype, (1024,), (4,), 0, data, 4096, 0, 4, number=number)


def report(*hazards):
    """One warp: loads 32 floats a line apart, stores them to a shared column and to memory."""
    lane = np.arange(32)
    active = np.ones(32, bool)
    launch = Launch("scale", FILE, (4, 2, 1), (32, 1, 1), (LOAD, STORE), False, "H200")
    counters = Counters()
    counters.on_launch(launch)
    counters.on_chunk(Chunk(0, 1, 32, 32, active))
    counters.on_access(Access("load", array("a", 0), lane * 128, 4, active, LOAD))
    counters.on_access(Access("store", array("tile", 1, "shared"), lane * 128, 4, active, LOAD))
    counters.on_access(Access("store", array("o", 2), lane * 4, 4, active, STORE))
    return build_report(launch, counters, hazards, source_lines=TEXT)


def hazard(severity="error", line=3, message="line 3: <b>lane</b> 4"):
    return SimpleNamespace(
        kind="race", severity=severity, line=line, other_line=None, message=message
    )


class TestReport:
    """Totals, lines and arrays of one launch."""

    def test_totals_and_lines(self) -> None:
        """Counters are those of the whole launch; lines have the same names, by number."""
        found = report()
        assert found.counters.global_load_sectors == 32
        assert list(found.lines) == [3, 5]
        assert found.lines[3].global_load_sectors == 32
        assert found.lines[3].shared_store_bank_conflicts == 31
        assert found.lines[5].global_store_sectors == 4
        assert found.lines[5].text == "o[i] = tile[31 - t]"

    def test_a_line_has_no_other_attributes(self) -> None:
        """A name that is no counter raises AttributeError."""
        with pytest.raises(AttributeError):
            _ = report().lines[3].sectors

    def test_ideal_sectors(self) -> None:
        """128 bytes loaded, wherever they lie, fit 4 sectors; so do those stored."""
        found = report()
        assert (found.ideal_load_sectors, found.ideal_store_sectors) == (4, 4)
        assert found.array("a").loaded_sectors == 32
        with pytest.raises(KeyError, match="'b'"):
            found.array("b")

    def test_hazards_errors_first(self) -> None:
        """Errors come before warnings, each in the order of lines."""
        warning, late, early = hazard("warning", 1), hazard(line=5), hazard(line=3)
        found = report(warning, late, early)
        assert found.hazards == (early, late, warning)
        assert (found.errors, found.warnings) == ((early, late), (warning,))

    def test_nsight_names(self) -> None:
        """Metrics have Nsight Compute's names and the counters' values."""
        found = report().nsight()
        assert found["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 32
        assert found["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] == 31
        assert set(found) == set(METRICS)


class TestText:
    """`repr`: one screen."""

    def test_whole_text(self) -> None:
        """Headline, hazards with their line, totals, busiest lines, cost."""
        text = repr(report(hazard()))
        lines = text.splitlines()
        assert lines[0] == "scale: grid 4 × 2, block 32, counted as on the H200"
        assert lines[1] == "1 error, 0 warnings"
        assert lines[2] == "  error: race: line 3: <b>lane</b> 4"
        assert lines[3] == '      3 | tile[t] = a["<i>"]'
        assert lines[4] == (
            "  global loads   1 request, 32 sectors (32.00 a request; their bytes need 4.00)"
        )
        assert "  shared stores  1 request, 32 wavefronts, 31 bank conflicts" in lines
        assert '      3 | tile[t] = a["<i>"]  | 32 sectors, 32 wavefronts, 31 conflicts' in lines
        assert re.match(r"  cost +about [\d,]+ cycles \(.*\), bound by ", lines[-1])
        assert len(lines) < 24

    def test_many_hazards_stay_on_one_screen(self) -> None:
        """Only the first hazards are shown, with how many more there are."""
        text = repr(report(*[hazard(message=f"number {n}") for n in range(30)]))
        assert "30 errors, 0 warnings" in text
        assert "number 5" in text
        assert "number 6" not in text
        assert "and 24 more in .hazards" in text
        assert len(text.splitlines()) < 40

    def test_no_hazards(self) -> None:
        """A launch without hazards says so."""
        assert "no hazards" in repr(report())


class Structure(HTMLParser):
    """Tags in their order, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.used: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag, attrs) -> None:
        self.used.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text += data


class TestHtml:
    """`_repr_html_`: tables and text."""

    def test_well_formed_and_escaped(self) -> None:
        """Tags nest; the learner's source and messages appear as text, never as tags."""
        page = Structure()
        page.feed(report(hazard())._repr_html_())
        assert page.open == []
        assert not page.used & {"b", "i", "script", "img", "svg"}
        assert "line 3: <b>lane</b> 4" in page.text
        assert 'tile[t] = a["<i>"]' in page.text

    def test_colours_follow_the_theme(self) -> None:
        """Text takes the page's colour, so that it is legible on light and dark alike."""
        html = report(hazard())._repr_html_()
        assert "color: inherit" in html
        assert not re.search(r"background(-color)?:\s*(#|white|rgb)", html)

    def test_same_numbers_as_the_text(self) -> None:
        """What the terminal shows as totals stands in the table too."""
        page = Structure()
        page.feed(report()._repr_html_())
        assert "1 request, 32 sectors (32.00 a request; their bytes need 4.00)" in page.text
