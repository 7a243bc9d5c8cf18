"""One machine: students in a pool of processes. One that dies costs its own student alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import Any

from wia_lab.grading.student import broken, grade_student

Task = dict[str, Any]
TRIES = 3


def grade_all(tasks: Iterator[Task], jobs: int) -> Iterator[dict[str, Any]]:
    """Grade students, `jobs` at a time; results come as they are ready."""
    if jobs == 1:
        yield from map(grade_student, tasks)
        return
    while True:
        suspects: list[Task] = []
        yield from _one_pool(tasks, jobs, suspects)
        if not suspects:
            return
        yield from map(_alone, suspects)


def _one_pool(tasks: Iterator[Task], jobs: int, suspects: list[Task]) -> Iterator[dict[str, Any]]:
    """Grade until all is done or a process dies; what was under way then is put into `suspects`."""
    running: dict[Future[dict[str, Any]], Task] = {}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        while not suspects:
            for task in islice(tasks, 2 * jobs - len(running)):
                try:
                    running[pool.submit(grade_student, task)] = task
                except BrokenProcessPool:  # a process has died since the last result
                    suspects.append(task)
                    break
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    suspects.append(task)
        suspects += running.values()


def _alone(task: Task) -> dict[str, Any]:
    """Grade a student who was under way when a process died: that another did it costs nothing."""
    for _ in range(TRIES - 1):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            try:
                return pool.submit(grade_student, task).result()
            except BrokenProcessPool:
                continue
    return given_up(task)


def given_up(task: Task) -> dict[str, Any]:
    """Return the result of a student whose grading ended a process each time."""
    why = "its process ended three times"
    puzzles = {name: broken(why) for name in task["answers"]}
    return {"student": task["student"], "puzzles": puzzles, "nbval": {"ran": False}, "times": {}}


Grader = Callable[[Iterator[Task]], Iterator[dict[str, Any]]]
"""What grades tasks: this machine's pool, or a cluster."""
