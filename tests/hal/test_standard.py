"""The standard's table has every name of the standard, and each row can be followed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from wia_lab.hal.standard import TABLE, Row, resolve

sys.path.insert(0, str(Path(__file__).parent))

from standard_names import all_names, names_in

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = Path(__file__).with_name("standard_names.txt")
DOCUMENTS = sorted(ROOT.parent.glob("shared/seeds/00[01]_*.txt"), reverse=True)


def committed() -> dict[str, str]:
    """Each name with its section, as the scanner printed them."""
    lines = COMMITTED.read_text(encoding="utf-8").splitlines()
    return {name: section for section, name in (line.split("\t") for line in lines)}


class TestScanner:
    """It sees what is code, and nothing else."""

    @pytest.mark.parametrize(
        ("line", "names"),
        [
            ("// wia_free(x) 한국어", []),
            ("이름: wia_free(x)", []),
            ('printf("%d wia_free(x)", n); // wia_alloc(x)', []),
            ("wia_free(x);  // 해제", ["wia_free"]),
            ("wia_stream_t* s = wia_create_stream(ctx, 0);", ["wia_create_stream", "wia_stream_t"]),
            ("case WIA_ERROR_TIMEOUT:", ["WIA_ERROR_TIMEOUT"]),
            ("while (x) { if (y) abort(); }", []),
            ("a_t* x; x->len = y[i].size;", ["a_t", "a_t.len"]),
            ("run<<<>>>(data, n);", ["run"]),
            ("__kernel void f(__global int* a)", ["__global", "__kernel", "f"]),
        ],
    )
    def test_line(self, line: str, names: list[str]) -> None:
        """Comments, text and prose are no code; C's own words are not the standard's."""
        assert sorted({name for _, name in names_in(line)}) == names

    def test_fields(self) -> None:
        """Of a declaration, of an initialiser with what nests in it, of a variable."""
        text = (
            "3.1 장\ntypedef struct {\n    size_t size;  // 크기\n    void** cache[32];\n"
            "} pool_t;\n"
            "3.2 장\nconf_t c = {\n    .dims = {1, 2},\n    .flag = A_FLAG\n};\nc.more = 1;\n"
        )
        assert all_names([text]) == {
            "A_FLAG": "3.2",
            "conf_t": "3.2",
            "conf_t.dims": "3.2",
            "conf_t.flag": "3.2",
            "conf_t.more": "3.2",
            "pool_t": "3.1",
            "pool_t.cache": "3.1",
            "pool_t.size": "3.1",
        }


class TestTable:
    """Complete, and each row leads somewhere."""

    def test_every_name(self) -> None:
        """None is missing, and none is made up."""
        names = {row.name for row in TABLE}
        assert sorted(committed().keys() - names) == []
        assert sorted(names - committed().keys()) == []

    @pytest.mark.skipif(not DOCUMENTS, reason="the standard's documents are not here")
    def test_the_committed_names_are_the_documents(self) -> None:
        """The list beside this file is what the scanner finds."""
        assert committed() == all_names([path.read_text(encoding="utf-8") for path in DOCUMENTS])

    def test_sections(self) -> None:
        """A name stands in the section where it comes first, or in a later one, if it has two."""
        first = committed()
        twice = {name for name, count in Counter(row.name for row in TABLE).items() if count > 1}
        assert twice == {"wia_pool_config_t"}
        wrong = [
            row.name for row in TABLE if row.section != first[row.name] and row.name not in twice
        ]
        assert wrong == []

    @pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.section}-{row.name}")
    def test_python_name(self, row: Row) -> None:
        """It can be imported and looked up; a choice is a sentence."""
        resolve(row.python)
        assert not row.choice or row.choice.endswith(".")

    def test_tests_exist(self) -> None:
        """pytest collects each test that a row names."""
        wanted = {test for row in TABLE for test in row.tests}
        files = sorted({test.partition("::")[0] for test in wanted})
        said = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
            + files,
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"},
            capture_output=True,
            text=True,
            check=True,
        )
        collected = {line.partition("[")[0] for line in said.stdout.splitlines()}
        assert sorted(wanted - collected) == []


class TestResolve:
    """A dotted name leads to a thing, or the error says that it does not."""

    def test_attributes(self) -> None:
        """Of a module, of a class, of instances alone."""
        import wia_lab.hal as wia
        from wia_lab import memory

        assert resolve("wia_lab.hal.matmul") is wia.matmul
        assert resolve("wia_lab.hal.Buffer.close") is wia.Buffer.close
        assert resolve("wia_lab.memory.Pool.keep_blocks").default == 1 << 20
        assert resolve("wia_lab.memory.Pool") is memory.Pool

    @pytest.mark.parametrize(
        "name",
        [
            "wia_lab.hal.no_such",
            "wia_lab.no_such.thing",
            "wia_lab.hal.Buffer.no_such",
            "wia_lab.hal.matmul.no_such",
        ],
    )
    def test_nothing(self, name: str) -> None:
        with pytest.raises((AttributeError, ImportError)):
            resolve(name)


def test_kinds() -> None:
    """What C calls each name follows from the name."""
    kinds = {row.name: row.kind for row in TABLE}
    assert {
        name: kinds[name]
        for name in ("wia_free", "wia_memory_t", "slab_t.free_list", "WIA_SUCCESS", "__local")
    } == {
        "wia_free": "function",
        "wia_memory_t": "struct",
        "slab_t.free_list": "field",
        "WIA_SUCCESS": "constant",
        "__local": "qualifier",
    }
