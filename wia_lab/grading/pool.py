"""One machine: students in a pool of processes. One that dies costs a student a second try."""

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
    again: list[tuple[Task, int]] = []
    while True:
        yield from _one_pool(tasks, jobs, again)
        if not again:
            return


def _one_pool(
    tasks: Iterator[Task], jobs: int, again: list[tuple[Task, int]]
) -> Iterator[dict[str, Any]]:
    """Grade until all is done or a process dies; what was under way then is put into `again`."""
    waiting = list(again)
    again.clear()
    running: dict[Future[dict[str, Any]], tuple[Task, int]] = {}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        while True:
            room = 2 * jobs - len(running)
            fresh = [(task, 0) for task in islice(tasks, max(room - len(waiting), 0))]
            for task, tries in [*waiting, *fresh]:
                running[pool.submit(grade_student, task)] = (task, tries)
            waiting = []
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task, tries = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    again.append((task, tries))
            if again:
                again += running.values()
                again[:] = [(task, tries + 1) for task, tries in again]
                for task, _ in [pair for pair in again if pair[1] >= TRIES]:
                    yield given_up(task)
                again[:] = [pair for pair in again if pair[1] < TRIES]
                return


def given_up(task: Task) -> dict[str, Any]:
    """Return the result of a student whose grading ended a process each time."""
    why = "its process ended three times"
    puzzles = {name: broken(why) for name in task["answers"]}
    return {"student": task["student"], "puzzles": puzzles, "nbval": {"ran": False}, "times": {}}


Grader = Callable[[Iterator[Task]], Iterator[dict[str, Any]]]
"""What grades tasks: this machine's pool, or a cluster."""
