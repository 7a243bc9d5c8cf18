"""Holes that a hostile reader found: each stays closed, and honest neighbours stay welcome."""

from __future__ import annotations

import json
import os
import zipfile
from datetime import UTC, datetime

import pytest

from wia_lab.grading import layouts, plain, records, refusal
from wia_lab.grading.answers import MAGIC, defines, in_notebook
from wia_lab.grading.gradebook import safe
from wia_lab.grading.refusal import refuse
from wia_lab.grading.similar import sketch
from wia_lab.grading.submission import Unreadable, parse, read_files
from wia_lab.puzzles.curriculum import find

KERNEL = "\n@cuda.jit\ndef square(out: X, a):\n    out[cuda.grid(1)] = a[0]\n"


def stub(*sources: str):
    """Return a notebook of code cells, the first one the answer's."""
    cells = [{"id": "answer", "cell_type": "code", "source": "def square(out, a):\n    pass\n"}]
    cells += [{"cell_type": "code", "source": source} for source in sources]
    return parse(json.dumps({"cells": cells}).encode(), "00-start.ipynb")


class TestConstants:
    """What a kernel's cell calls when it is read is what it is named after."""

    @pytest.mark.parametrize(
        "text",
        [
            "from numpy import load as float32\nX = float32('a')",
            "import numpy as np\nexp = np.load\nX = exp('a')",
            "from numpy import random as math\nX = math.gamma(1)",
            "class exp:\n    pass\nX = exp(1)",
            "def exp(x):\n    pass\nX = exp(1)",
            "import numpy as np\nX = np.linalg.det(1)",
            "import numpy as np\nX = np.random.gamma(1)",
        ],
    )
    def test_another_meaning_is_refused(self, text):
        """Refused before anything is run."""
        found = refuse(f"from wia_lab import cuda\n{text}\n{KERNEL}", host=False)
        assert found is not None
        assert found.kind == "refused"

    @pytest.mark.parametrize(
        "text",
        [
            "from numba import float32\nX = float32(0)",
            "import numpy as n\nX = n.float32(0)",
            "import math\nX = math.log(2.0)",
            "from numba import types\nX = types.float32(1)",
            "X = np.sqrt(2.0) + float32(1)",
        ],
    )
    def test_types_are_welcome(self, text):
        """The same names as imported from where they belong."""
        assert refuse(f"from wia_lab import cuda\n{text}\n{KERNEL}", host=False) is None

    def test_a_signature_is_plain_text(self):
        """Letters that Python reads as others do not hide a call."""
        kernel = KERNEL.replace(
            "cuda.jit", "cuda.jit('\U0001d41e\U0001d42f\U0001d41a\U0001d425(1)')"
        )
        found = refuse(f"from wia_lab import cuda\n{kernel}", host=False)
        assert found is not None
        plain_text = KERNEL.replace("cuda.jit", "cuda.jit('void(float32[:], float32[::1])')")
        assert refuse(f"from wia_lab import cuda\n{plain_text}", host=False) is None


class TestHostAnswers:
    """Answers that run beside the records of what they did."""

    def test_a_dataclass_is_welcome(self, made, tmp_path):
        """Its methods are made with exec, by the standard library."""
        source = made.solution("buddy-allocator").replace(
            "        self.live = {}", "        self.first = Block(3)\n        self.live = {}"
        )
        head = "from dataclasses import dataclass\n\n@dataclass\nclass Block:\n    size: int\n\n"
        made.put(tmp_path / "in" / "ada", "buddy-allocator", head + source)
        course = made.course("buddy-allocator")
        [row] = made.grade(tmp_path / "in", tmp_path / "out", course=course)
        assert row["total"] == row["possible"]

    @pytest.mark.parametrize(
        "line",
        [
            "stream.context.device.machine.backend.crossings.clear()",
            "data.storage = None",
            "getattr(stream, 'x').settrace(None)",
        ],
    )
    def test_the_record_is_out_of_reach(self, line):
        """What the judge writes down cannot be named."""
        source = (
            f"class PeerReader:\n    def share(self, data, ready, stream, reads):\n        {line}\n"
        )
        assert refuse(source, host=True) is not None


class TestFiles:
    """Files that cost the grader's own process time, memory or its life."""

    def test_a_search_for_magics_stays_on_its_line(self):
        """One that went on over blank lines took hours for 300,000 of them."""
        assert MAGIC.match("\n\n%time") is None
        assert MAGIC.match("  %time") is not None
        assert "magics" in " ".join(in_notebook(stub("\n" * 9 + "%time"), find("start")).notes)

    def test_a_long_cell_is_not_parsed(self, monkeypatch):
        """A cell too long to be an answer is found by its words; its tree would take gigabytes."""
        long = "def square(out, a):\n    pass\n" + "0;" * 200_000
        monkeypatch.setattr(refusal.ast, "parse", lambda *_: pytest.fail("it was parsed"))
        assert defines(long, "square")
        assert refuse(long, host=False) is not None
        assert sketch("ada", long) is None

    def test_millions_of_cells_are_unreadable(self):
        """A small archive can hold them."""
        with pytest.raises(Unreadable, match="lists and records"):
            parse(b'{"cells":[' + b"{}," * 600_000 + b"{}]}", "a.ipynb")

    def test_a_damaged_archive_is_unreadable(self, tmp_path):
        """One damaged byte ended the grading of the whole class."""
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(
                "a.ipynb", json.dumps({"cells": [{"source": str(n)} for n in range(999)]})
            )
        data = bytearray(path.read_bytes())
        for place in (60, 70, 90):
            data[place] ^= 0xFF
        path.write_bytes(bytes(data))
        assert "no archive" in read_files([(path, 0)]).findings[0]

    def test_all_files_together_have_a_limit(self, tmp_path):
        """Twenty archives that unpack to 20 MiB each are not all read."""
        paths = []
        for number in range(6):
            paths.append((tmp_path / f"{number}.zip", 0))
            with zipfile.ZipFile(paths[-1][0], "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("a.ipynb", b" " * (19 << 20))
        assert sum("all files together" in each for each in read_files(paths).findings) == 2


class TestNames:
    """Whose file is whose, and when it came."""

    def test_numbers_that_belong_to_names(self, tmp_path):
        """smith-1 and smith-2 are two students, ada and ada-1 too; `bo (1)` is a copy of bo's."""
        for name in ("smith-1", "smith-2", "ada", "ada-1", "bo", "bo (1)"):
            (tmp_path / f"{name}.ipynb").write_text("{}")
        assert [each.student for each in layouts.collect(tmp_path)] == [
            "ada",
            "ada-1",
            "bo",
            "smith-1",
            "smith-2",
        ]

    def test_names_alike_have_a_row_each(self, made, tmp_path):
        """One wrote the solution, the other a wrong answer: each gets what is hers."""
        for name, source in (("ada", None), ("ada-1", "def square(out, a):\n    pass\n")):
            path = made.put(tmp_path / "made" / name, "start", source)
            (tmp_path / "in").mkdir(exist_ok=True)
            path.rename(tmp_path / "in" / f"{name}.ipynb")
        rows = made.grade(tmp_path / "in", tmp_path / "out", course=made.course("start"))
        assert [(row["student"], row["total"]) for row in rows] == [("ada", 2), ("ada-1", 0)]

    def test_a_time_sent_along_makes_nothing_earlier(self, tmp_path):
        """The latest of a folder's times counts."""
        (tmp_path / "ada" / "zz").mkdir(parents=True)
        (tmp_path / "ada" / "timestamp.txt").write_text("2030-01-01 00:00:00 UTC")
        (tmp_path / "ada" / "zz" / "timestamp.txt").write_text("2020-01-01 00:00:00 UTC")
        [ada] = layouts.collect(tmp_path)
        assert ada.when == datetime(2030, 1, 1, tzinfo=UTC)

    def test_a_name_in_no_encoding(self, made, tmp_path):
        """It ended the grading of the whole class; now it is written out."""
        made.put(tmp_path / "in" / "ada", "start")
        folder = os.fsencode(tmp_path / "in") + b"/bad\xff"
        try:
            (tmp_path / "in" / "ada").rename(os.fsdecode(folder))
        except OSError:
            pytest.skip("this file system takes no such name")
        [row] = made.grade(tmp_path / "in", tmp_path / "out", course=made.course("start"))
        assert row["student"] == r"bad\udcff"
        assert row["total"] == row["possible"]

    @pytest.mark.parametrize("text", [" =1+1", "\n=1+1", "\uff1d1+1", "@a"])
    def test_formulas_in_disguise(self, text):
        """Blanks and wide signs before or for the sign change nothing."""
        assert safe(text) == f"'{text}"


class TestRecords:
    """Records that somebody changed."""

    @pytest.mark.parametrize("puzzles", [[], {"start": 7}, {"start": {"key": "x"}}, None])
    def test_what_is_no_verdict_is_judged_again(self, made, tmp_path, puzzles):
        """It is neither taken for one nor ends the run."""
        made.put(tmp_path / "in" / "ada", "start")
        course = made.course("start")
        made.grade(tmp_path / "in", tmp_path / "out", course=course)
        path = records.path_of(tmp_path / "out", "ada")
        path.write_text(json.dumps({**json.loads(path.read_text()), "puzzles": puzzles}))
        [row] = made.grade(tmp_path / "in", tmp_path / "out", course=course)
        assert row["total"] == row["possible"]


class TestPipe:
    """Values that cost the reader more than the writer."""

    def test_large_mappings_do_not_cross(self):
        """Keys that collide cost their square, and a list may name one mapping often."""
        keys = {number * (2**61 - 1): 0 for number in range(1, 1200)}
        assert isinstance(plain.loads(plain.dumps(keys)), plain.Opaque)
        pairs = [[["i", number], None] for number in range(1200)]
        with pytest.raises(plain.PlainError):
            plain.loads(json.dumps(["d", *pairs]))
