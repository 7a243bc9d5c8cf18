"""Small programs, each with what a GPU gives and what a judge must say: nothing less, nothing more.

`WIA_LAB_CASES` may name a folder of further cases: files with `CASE` and `run(cuda)`, and a module
`run_cases` whose `one(path, "wia_lab")` prints a verdict as a JSON line after `@@`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from wia_lab import hazards

sys.path.insert(0, str(Path(__file__).parent / "cases"))

import cases_boundaries
import cases_language
import cases_sharing

MODULES = (cases_boundaries, cases_sharing, cases_language)
CASES = [each for module in MODULES for each in module.CASES]
FURTHER = (
    sorted(Path(os.environ["WIA_LAB_CASES"]).glob("[0-9]*.py"))
    if ("WIA_LAB_CASES" in os.environ)
    else []
)


def test_names_differ() -> None:
    """A case that hides another would never run."""
    assert len({each.name for each in CASES}) == len(CASES) >= 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case) -> None:
    """Values, and exactly the hazards asked for; or the class of the error."""
    with warnings.catch_warnings(record=True) as heard, hazards("warn"):
        warnings.simplefilter("always")
        if case.error:
            with pytest.raises(Exception) as caught:  # noqa: PT011 (its class is compared)
                case.run()
            assert type(caught.value).__name__ == case.error
            return
        outcome = case.run()
    found = [each.message.hazard for each in heard]
    said = {(each.kind, each.severity) for each in found}
    assert said == set(case.hazards.items()), "\n".join(map(str, found))
    for got, expected in outcome or []:
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("path", FURTHER, ids=lambda path: path.stem)
def test_further_case(path, monkeypatch, capsys) -> None:
    """A case of the folder that `WIA_LAB_CASES` names counts as right."""
    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.setenv("WIA_LAB_HAZARDS", "warn")
    importlib.import_module("run_cases").one(str(path), "wia_lab")
    (line,) = (each for each in capsys.readouterr().out.splitlines() if each.startswith("@@"))
    verdict = json.loads(line[2:])
    assert verdict["match"], verdict["differs"]
