"""A department: the same on a Dask cluster. A task is a supervisor; answers run in its sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from wia_lab.errors import CannotRun
from wia_lab.grading.student import grade_student

if TYPE_CHECKING:
    from wia_lab.grading.pool import Task

SECONDS_TO_CONNECT = 15


def grade_all(tasks: Iterator[Task], scheduler: str) -> Iterator[dict[str, Any]]:
    """Grade students on the cluster at `scheduler`; results come as they are ready.

    A student whose worker dies is graded by another; one that the cluster gives up is graded here.

    Raises
    ------
    CannotRun
        No such cluster, or Dask is not installed.
    """
    try:
        from distributed import Client, as_completed  # noqa: PLC0415 - an extra of its own
    except ImportError as error:
        raise CannotRun('a cluster needs Dask: python -m pip install "wia-lab[grading]"') from error
    try:
        client = Client(scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise CannotRun(f"no Dask scheduler answers at {scheduler}: {error}") from error
    with client:
        asked: dict[Any, Task] = {}
        room = max(4 * sum(client.nthreads().values()), 8)

        def ask(task: Task) -> Any:
            future = client.submit(grade_student, task, pure=False)
            asked[future.key] = task
            return future

        running = as_completed([ask(task) for task in islice(tasks, room)], loop=client.loop)
        for future in running:
            task = asked.pop(future.key)
            yield future.result() if future.status == "finished" else grade_student(task)
            for fresh in islice(tasks, 1):
                running.add(ask(fresh))
