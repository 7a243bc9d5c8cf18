"""One machine: a pool whose processes may die, and a worker where bubblewrap is missing."""

from __future__ import annotations

import os
import signal
import subprocess
from multiprocessing import active_children
from pathlib import Path

import click
import pytest

from wia_lab.errors import CannotRun
from wia_lab.grading import pool, sandbox, staging, student
from wia_lab.grading.grade import AS_ROOT
from wia_lab.grading.limits import Limits
from wia_lab.grading.sandbox import STRONG, WEAK, Worker


def tasks(made, count):
    """Return the tasks of some students who answered `start`."""
    for number in range(count):
        yield {
            "student": f"s{number}",
            "attempt": 1,
            "seed": "5",
            "limits": Limits().plain(),
            "confinement": sandbox.mode(),
            "nbval": False,
            "answers": {"start": made.solution("start")},
        }


class Deadly:
    """Ends the process that reads it."""

    def __reduce__(self):
        return os._exit, (1,)


@pytest.fixture
def cheap(monkeypatch):
    """Twelve students, whose grading is their task given back: a pool's own work alone."""
    monkeypatch.setattr(pool, "grade_student", dict)
    return [{"student": f"s{number}", "answers": {"start": ""}} for number in range(12)]


def names(found):
    return sorted(each["student"] for each in found)


class TestDeath:
    """A process of the pool dies."""

    def test_costs_nobody(self, cheap):
        """It is killed from outside; who was under way is graded by another."""
        found = []
        for result in pool.grade_all(iter(cheap), 2):
            if not found:
                os.kill(active_children()[0].pid, signal.SIGKILL)
            found.append(result)
        assert names(found) == names(cheap)
        assert all(each in cheap for each in found)

    def test_costs_its_student_alone(self, cheap):
        """One who ends every process is given up; those who were under way beside it are not."""
        cheap[1]["attempt"] = Deadly()
        found = list(pool.grade_all(iter(cheap), 2))
        assert names(found) == names(cheap)
        [given_up] = [each for each in found if each["student"] == "s1"]
        assert given_up["puzzles"]["start"]["status"] == "grader_error"
        assert all(each in cheap for each in found if each["student"] != "s1")

    @pytest.mark.parametrize("call", [1, 4, 5, 12])
    def test_is_seen_when_the_next_is_handed_in(self, cheap, monkeypatch, call):
        """The pool refuses to take one more; nobody is lost."""
        submit, calls = pool.ProcessPoolExecutor.submit, []

        def broken_once(self, *arguments):
            calls.append(arguments)
            if len(calls) == call:
                raise pool.BrokenProcessPool("it has died")
            return submit(self, *arguments)

        monkeypatch.setattr(pool.ProcessPoolExecutor, "submit", broken_once)
        found = list(pool.grade_all(iter(cheap), 2))
        assert names(found) == names(cheap)
        assert all(each in cheap for each in found)


def test_fault_of_the_grader_is_a_status(made, monkeypatch):
    """A judge that raises gives its student grader_error, and no exception."""

    def broken(*_):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(student, "judge_answer", broken)
    [result] = pool.grade_all(tasks(made, 1), 1)
    assert result["puzzles"]["start"]["status"] == "grader_error"
    assert result["puzzles"]["start"]["entries"] == []


def test_without_bubblewrap(made, tmp_path):
    """Resource limits alone give the same points, and the row says so."""
    made.put(tmp_path / "in" / "mo", "start")
    made.put(tmp_path / "in" / "mo", "buddy-allocator")
    course = made.course("start", "buddy-allocator")
    [row] = made.grade(tmp_path / "in", tmp_path / "out", confinement=WEAK, course=course)
    assert row["total"] == row["possible"]
    assert row["sandbox"].removesuffix(AS_ROOT) == WEAK


def test_installed_package_is_covered(monkeypatch):
    """Where this package stands inside the environment, the worker sees an empty folder there."""
    try:
        way = sandbox.mode(STRONG)
    except CannotRun as error:
        pytest.skip(str(error))
    monkeypatch.setattr(sandbox, "PACKAGE", Path(click.__file__).parent)
    command = [*sandbox.bubblewrap(staging.staged()), "ls", str(Path(click.__file__).parent)]
    assert way == STRONG

    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_worker_that_cannot_start_is_no_students_fault(monkeypatch):
    """A machine without a working Python in the sandbox is said in one sentence."""
    monkeypatch.setattr(sandbox.sys, "executable", "/nowhere/python")
    with Worker(WEAK) as worker, pytest.raises((CannotRun, OSError)):
        worker.start()
