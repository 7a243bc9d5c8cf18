"""Runs chosen tests in a process of its own and writes down how each ended.

    python -m wia_lab.commands.evidence WANTED.json OUTCOMES.json

WANTED holds node ids, where that of a parametrised test stands for all its cases. OUTCOMES gets a
dictionary from node id, with its case, to "passed", "failed" or "skipped".
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest


class Evidence:
    """A pytest plugin that keeps to the tests wanted."""

    def __init__(self, wanted: set[str]) -> None:
        self.wanted = wanted
        self.outcomes: dict[str, str] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is not wanted."""
        items[:] = [item for item in items if without_case(item.nodeid) in self.wanted]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the worst of set-up, call and tear-down; a skip comes from one of them."""
        before = self.outcomes.get(report.nodeid, "passed")
        if before == "passed":
            self.outcomes[report.nodeid] = report.outcome


def without_case(node: str) -> str:
    """Return a node id without the case of a parametrised test."""
    return node.partition("[")[0]


def main(wanted_path: str, outcomes_path: str) -> int:
    """Run the tests below the current folder, and return pytest's exit code."""
    wanted = set(json.loads(Path(wanted_path).read_text(encoding="utf-8")))
    files = sorted({node.partition("::")[0] for node in wanted})
    there = [file for file in files if Path(file).is_file()]
    evidence = Evidence(wanted)
    options = ["-p", "no:cacheprovider", "-q", "--rootdir", ".", "--continue-on-collection-errors"]
    code = pytest.main([*options, *there], plugins=[evidence]) if there else 0
    Path(outcomes_path).write_text(json.dumps(evidence.outcomes), encoding="utf-8")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
