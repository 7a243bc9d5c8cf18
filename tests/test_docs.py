"""README.md and docs/: what they tell a reader to type, open or look at is there."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import click
import pytest

from wia_lab.cli import group

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "solutions" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FOLDERS = "benchmarks|docs|locks|notebooks|solutions|tests|tools|wia_lab"
IN_THE_WHEEL = "wia_lab/notebooks"
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def typed() -> list[tuple[str, str]]:
    """What stands as code on each page: blocks that are set in, and pieces between backticks."""
    found = []
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        blocks = [line.split(" #")[0].strip() for line in text.splitlines() if line[:4] == "    "]
        pieces = [" ".join(piece.split()) for piece in re.findall(r"`([^`]+)`", text)]
        found += [(page.relative_to(ROOT).as_posix(), piece) for piece in (*blocks, *pieces)]
    return found


def those(pattern: str) -> list[tuple[str, str]]:
    """The pieces of code that match, without those that repeat."""
    return sorted({(page, piece) for page, piece in typed() if re.match(pattern, piece)})


def named(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that words begin with, and the words that are left."""
    command: click.Command = group
    context = click.Context(group)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, f"there is no command {words[0]}"
        command, words = found, words[1:]
    return command, words


@pytest.mark.parametrize(("page", "line"), those(r"wia-lab\b"))
def test_commands_take_what_is_written(page, line):
    """Each command exists and has the options named; what it must be given is given or named."""
    command, words = named(shlex.split(line)[1:])
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    for word in words:
        assert not word.startswith("-") or word.split("=")[0] in {*options, "--help"}, word


@pytest.mark.parametrize(("page", "line"), those(r"make [a-z]"))
def test_make_targets_exist(page, line):
    """Each target is one of the Makefile's."""
    assert line.split()[1] in TARGETS


PLACES = sorted(
    {
        (page, word)
        for page, piece in typed()
        for word in piece.split()
        if re.fullmatch(rf"(?:{FOLDERS})/[\w./-]*", word)
    }
)


@pytest.mark.parametrize(("page", "place"), PLACES)
def test_places_exist(page, place):
    """Each file or folder of the project that a page names is there."""
    assert (ROOT / place).exists() or place == IN_THE_WHEEL


@pytest.mark.parametrize(("page", "name"), those(r"wia_lab(\.\w+)+$"))
def test_names_can_be_imported(page, name):
    """Each dotted name is a module, or something in one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[cut:]:
            value = getattr(value, attribute)
        return
    pytest.fail(f"{name} is nothing")


GRADING = (ROOT / "docs" / "grading.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("node", sorted(set(re.findall(r"`(test_\w+(?:::\w+)*)`", GRADING))))
def test_the_tests_that_hold_a_promise_exist(node):
    """Each test that the ten promises of grading name."""
    module, *inside = node.split("::")
    path = ROOT / "tests" / "grading" / f"{module}.py"
    assert path.is_file()
    source = path.read_text(encoding="utf-8")
    for name in inside:
        assert re.search(rf"^ *(?:class|def) {name}\b", source, re.MULTILINE), name


def test_something_was_found():
    """The patterns above match what the pages hold."""
    assert len(those(r"wia-lab\b")) >= 20
    assert len(PLACES) >= 15
    assert ("README.md", "make lab") in those(r"make [a-z]")
