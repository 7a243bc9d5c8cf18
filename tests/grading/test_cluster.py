"""A class on a Dask cluster: the same files, whatever dies meanwhile."""

from __future__ import annotations

import os
import signal
from functools import partial

import pytest

from wia_lab.errors import CannotRun
from wia_lab.grading import cluster
from wia_lab.puzzles.curriculum import PUZZLES

distributed = pytest.importorskip("distributed")


def pid_of_worker():
    """Return the process that a task runs in."""
    return os.getpid()


@pytest.mark.filterwarnings("default")  # Dask's own shut-down warns of what this test killed
def test_killed_worker_loses_nothing(made, tmp_path):
    """A worker killed in mid-grading costs no student; the files are those of one machine."""
    top = tmp_path / "in"
    wrong = made.solution("start").replace("*", "+")
    for number in range(4):
        made.put(top / f"s{number:02d}", "start", wrong if number % 3 == 0 else None)
    course = made.course("start")
    made.grade(top, tmp_path / "one", course=course)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as local,
        distributed.Client(local) as client,
    ):
        victim = next(iter(client.run(pid_of_worker).values()))
        killed = []

        def grader(tasks):
            for result in cluster.grade_all(tasks, local.scheduler_address):
                if not killed:
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)
                yield result

        rows = made.grade(top, tmp_path / "many", course=course, grader=grader)
    assert killed
    assert [row["total"] for row in rows] == [0, 2, 2, 0]
    assert made.contents(tmp_path / "many") == made.contents(tmp_path / "one")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # as above
def test_class_on_a_cluster(made, tmp_path):
    """Twelve students on all kernel puzzles, two workers, one killed: the files of one machine."""
    puzzles = list(PUZZLES.values())
    made.put_class(tmp_path / "in", puzzles)
    course = made.course(*(puzzle.id for puzzle in puzzles))
    made.grade(tmp_path / "in", tmp_path / "one", course=course)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as local,
        distributed.Client(local) as client,
    ):
        victims = list(client.run(pid_of_worker).values())[:1]

        def grader(tasks):
            for result in cluster.grade_all(tasks, local.scheduler_address):
                while victims:
                    os.kill(victims.pop(), signal.SIGKILL)
                yield result

        rows = made.grade(tmp_path / "in", tmp_path / "many", course=course, grader=grader)
    assert len(rows) == 12
    assert made.contents(tmp_path / "many") == made.contents(tmp_path / "one")


def test_no_scheduler_is_said(made, tmp_path, monkeypatch):
    """An address where nobody answers is one sentence."""
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1)
    made.put(tmp_path / "in" / "a", "start")
    with pytest.raises(CannotRun, match="no Dask scheduler answers"):
        made.grade(
            tmp_path / "in",
            tmp_path / "out",
            grader=partial(cluster.grade_all, scheduler="tcp://127.0.0.1:9"),
        )
