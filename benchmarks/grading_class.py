"""Classes of growing size really graded: seconds, and the grader's own peak of memory.

Needs a clone and its environment. The students answer one puzzle and are made up: in turn the
solution, the stub, and the wrong answers of tests/mutants. Each answer is judged in a sandbox of
its own on inputs of its own; nothing is canned and nothing used again.

    python benchmarks/grading_class.py [--puzzle start] [--jobs 2] 125 250 500 1000

Seconds of processor are told where it runs in a control group of its own (version 1): make a folder
in /sys/fs/cgroup/cpuacct, and write the shell's number to its cgroup.procs.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from wia_lab.puzzles.curriculum import find
from wia_lab.puzzles.mutants import read_promise

ROOT = Path(__file__).resolve().parent.parent
GRADE = """
import resource, sys, time
from wia_lab.cli import main
begun = time.perf_counter()
code = main(sys.argv[1:])
took = time.perf_counter() - begun
print(code, took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, sep=",")
"""


def main() -> None:
    """Grade a class of each size from nothing, and print a line of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--puzzle", default="start")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    answers = answers_of(given.puzzle)
    print(f"{given.puzzle}: {len(answers)} answers in turn, {given.jobs} processes")
    print(f"{'students':>8}{'s':>9}{'processor s':>13}{'s a student':>13}{'grader, MiB':>13}")
    for size in given.sizes:
        with tempfile.TemporaryDirectory(prefix="wia-lab-") as folder:
            before = processor_seconds()
            took, memory = grade(Path(folder), given, answers, size)
            used = processor_seconds() - before
        row = f"{size:8}{took:9.0f}{used:13.0f}{used / size:13.2f}{memory:13.0f}"
        print(f"{row}   load {os.getloadavg()[0]:.1f}", flush=True)
    print(
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}"
    )


def processor_seconds() -> float:
    """Return what all processes of this control group have used; NaN where it is no own one.

    Workers are killed where they stand, so that no process that outlives them knows what they used.
    """
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpuacct" in controllers.split(",") and path != "/":
            usage = Path(f"/sys/fs/cgroup/cpuacct{path}/cpuacct.usage")
            return int(usage.read_text()) / 1e9
    return math.nan


def answers_of(puzzle: str) -> list[tuple[str, bool]]:
    """Return the answers that the students give in turn, and whether each is right."""
    record = find(puzzle)
    found = []
    for folder, is_right in (("solutions", True), ("notebooks", False)):
        cells = json.loads((ROOT / folder / f"{record.stem}.ipynb").read_text())["cells"]
        source = next("".join(each["source"]) for each in cells if each["id"] == "answer")
        found.append((source, is_right))
    wrong = sorted((ROOT / "tests" / "mutants" / puzzle).rglob("*.py"))
    return found + [(path.read_text(), read_promise(path).passes) for path in wrong]


def grade(
    folder: Path, given: argparse.Namespace, answers: list[tuple[str, bool]], size: int
) -> tuple[float, float]:
    """Grade a class; return its seconds, and the most MiB that the grader had."""
    stem = find(given.puzzle).stem
    notebook = json.loads((ROOT / "notebooks" / f"{stem}.ipynb").read_text())
    cell = next(each for each in notebook["cells"] if each["id"] == "answer")
    right = {}
    for number in range(size):
        cell["source"], right[f"s{number:04}"] = answers[number % len(answers)]
        path = folder / "in" / f"s{number:04}" / f"{stem}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))
    words = ["grade", str(folder / "in"), "-o", str(folder / "out"), "--seed", "1", "--no-nbval"]
    words += ["--puzzle", given.puzzle, "--jobs", str(given.jobs)]
    done = subprocess.run(
        [sys.executable, "-c", GRADE, *words], cwd=ROOT, check=True, capture_output=True, text=True
    )
    code, took, memory = map(float, done.stdout.splitlines()[-1].split(","))
    rows = json.loads((folder / "out" / "gradebook.json").read_text())["students"]
    full = {row["student"]: row["total"] == row["possible"] for row in rows}
    assert code == 0
    assert full == right
    return took, memory


if __name__ == "__main__":
    main()
