"""The package: its public names, its size, its pins."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import wia_lab

ROOT = Path(__file__).resolve().parent.parent
PUBLIC = [
    "CheckFailed",
    "HazardError",
    "HazardWarning",
    "check",
    "cuda",
    "hazards",
    "hint",
    "simulate",
]
LOCKS = ("base", "dev", "cuda12", "cuda13")
EXTRAS = {"base": (), "dev": ("dev", "grading"), "cuda12": ("cuda12",), "cuda13": ("cuda13",)}
LONGEST = {"wia_lab": 450, "tests": 700}


def project() -> dict:
    """Return pyproject.toml's project table."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pins(lock: str) -> dict[str, set[str]]:
    """Return each package of a lock and its pinned versions; several where markers tell apart."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / "locks" / f"{lock}.txt").read_text().splitlines():
        if match := re.match(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.+!-]+)", line):
            found.setdefault(canonicalize_name(match[1]), set()).add(match[2])
    return found


def applies(requirement: Requirement, extras: set[str]) -> bool:
    """Tell whether a package installed with `extras` needs this on this machine."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras})


class TestPublicNames:
    """`from wia_lab import …` gives what a notebook needs and nothing else."""

    def test_all_is_exactly_the_promise(self):
        """`__all__` lists the eight names, in order."""
        assert wia_lab.__all__ == PUBLIC

    @pytest.mark.parametrize("name", PUBLIC)
    def test_name_comes_from_its_home(self, name):
        """Each name is there on first use, under the name it was defined with."""
        value = getattr(wia_lab, name)
        assert value.__name__.rpartition(".")[2] == name

    def test_unknown_name_is_an_attribute_error(self):
        """A name that does not exist is said to be missing from wia_lab."""
        with pytest.raises(AttributeError, match="module 'wia_lab' has no attribute 'simulat'"):
            wia_lab.simulat  # noqa: B018  the access is the test

    def test_import_is_light(self):
        """`import wia_lab` and the command line's help load neither Numba nor Jupyter."""
        code = (
            "import sys, wia_lab, wia_lab.cli as cli; cli.main(['--help']); "
            "print([m for m in ('numba', 'numpy', 'jupyterlab', 'nbformat') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == "[]", done.stderr


class TestModules:
    """Every module can be read in one sitting."""

    def test_no_module_is_too_long(self):
        """No module, and no file of tests, has more lines than a sitting allows."""
        too_long = {
            path.relative_to(ROOT).as_posix(): lines
            for folder, most in LONGEST.items()
            for path in (ROOT / folder).rglob("*.py" if folder == "wia_lab" else "test_*.py")
            if (lines := len(path.read_text(encoding="utf-8").splitlines())) > most
        }
        assert too_long == {}


class TestPins:
    """pyproject.toml, the locks and environment.yml speak of the same versions."""

    @pytest.mark.parametrize("lock", LOCKS)
    def test_lock_fits_the_requirements(self, lock):
        """Every requirement of pyproject.toml is pinned, within the range that it allows."""
        needed = list(project()["dependencies"])
        for extra in EXTRAS[lock]:
            needed += project()["optional-dependencies"][extra]
        pinned = pins(lock)
        for requirement in map(Requirement, needed):
            versions = pinned[canonicalize_name(requirement.name)]
            assert all(map(requirement.specifier.contains, versions)), requirement

    @pytest.mark.parametrize("lock", LOCKS[1:])
    def test_extras_keep_the_base_pins(self, lock):
        """A lock with an extra has every pin of the base lock, at the same version."""
        base, more = pins("base"), pins(lock)
        assert {name: more.get(name) for name in base} == base

    def test_every_transitive_dependency_is_pinned(self):
        """What the installed base packages need on this machine stands in the base lock."""
        needed, waiting = set(), list(map(Requirement, project()["dependencies"]))
        while waiting:
            parent = waiting.pop()
            for requirement in map(Requirement, requires(parent.name) or []):
                if applies(requirement, parent.extras) and str(requirement) not in needed:
                    needed.add(str(requirement))
                    waiting.append(requirement)
        names = {canonicalize_name(Requirement(text).name) for text in needed}
        assert names - set(pins("base")) == set()

    def test_this_environment_has_the_pinned_versions(self):
        """The tests run on the versions that learners get."""
        for name in ("numba", "numpy", "jupyterlab", "nbval", "click"):
            assert version(name) in pins("base")[name]

    def test_conda_takes_the_same_lock(self):
        """environment.yml installs the base lock by name, so there is no second list."""
        text = (ROOT / "environment.yml").read_text()
        assert "      - -r locks/base.txt\n" in text
        assert "python >=3.11,<3.14" in text
        assert project()["requires-python"] == ">=3.11,<3.14"

    def test_version_is_said_once(self):
        """The package's version and pyproject.toml's agree."""
        assert wia_lab.__version__ == project()["version"]
