"""`wia-lab grade`: judge a class's submissions and write its gradebook and feedback."""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wia_lab.commands.options import NamedPath, unknown
from wia_lab.commands.warming import warm
from wia_lab.errors import CannotRun
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.grading.pool import Grader

ADDRESS = re.compile(r"[a-z]+://.+:\d+")


@click.command()
@click.argument("submissions", type=NamedPath())
@click.option("-o", "--out", type=NamedPath(), required=True, help="Results.")
@click.option("--course", type=NamedPath(), help="grading.toml. [default: all puzzles]")
@click.option("--puzzle", "names", multiple=True, help="Grade this puzzle only; may be repeated.")
@click.option("--roster", type=NamedPath(), help="CSV with a student a line.")
@click.option("--seed", help="Of the hidden inputs. [default: the recorded one, else drawn]")
@click.option("--jobs", type=click.IntRange(1), help="Processes. [default: one a core]")
@click.option("--scheduler", help="Grade on the Dask cluster at this address, tcp://….")
@click.option(
    "--sandbox",
    type=click.Choice(["bubblewrap", "resource-limits"]),
    help="[default: the stronger that works]",
)
@click.option("--nbval/--no-nbval", default=True, help="Have nbval confirm each verdict.")
@click.option("--regrade", multiple=True, help="Judge this student again; may be repeated.")
@click.option("--seconds", type=float, help="Limit a puzzle. [default: 20]")
@click.option("--memory", type=int, help="Limit a puzzle, MiB. [default: 3072]")
@click.option("--output", type=int, help="Limit a puzzle, MiB handed back. [default: 32]")
@click.option("--processes", type=int, help="Limit a puzzle, with threads. [default: 24]")
def grade(
    submissions: Path,
    out: Path,
    course: Path | None,
    names: tuple[str, ...],
    roster: Path | None,
    seed: str | None,
    jobs: int | None,
    scheduler: str | None,
    sandbox: str | None,
    regrade: tuple[str, ...],
    seconds: float | None,
    memory: int | None,
    output: int | None,
    processes: int | None,
    *,
    nbval: bool,
) -> int:
    """Grade the class whose files are in SUBMISSIONS.

    A file or a folder a student, or what nbgrader, Moodle or Canvas export. No submission is run:
    answers are judged in a sandbox on inputs of their own. Run it again to go on after a stop, or
    after new files have come: what has not changed is not judged again.
    """
    from wia_lab.grading import cluster, pool, verdicts
    from wia_lab.grading.course import Course, default_course, read_course
    from wia_lab.grading.grade import AS_ROOT, Plan, grade_class, read_roster, settle_seed
    from wia_lab.grading.layouts import collect
    from wia_lab.grading.limits import Limits
    from wia_lab.workbook import catalogue

    if out.exists() and not out.is_dir():
        raise CannotRun(f"{out} is a file: name a folder for the results with -o")
    if scheduler and not ADDRESS.fullmatch(scheduler):
        raise click.UsageError(f"--scheduler {scheduler!r} is no address: tcp://HOST:8786, say")
    given = {"seconds": seconds, "memory_mib": memory, "output_mib": output, "processes": processes}
    limits = Limits(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    full = default_course() if course is None else read_course(course)
    if names:
        wanted = {catalogue.find(name).id for name in names}
        if strange := wanted - set(full.puzzles):
            raise CannotRun(f"{course} does not name the puzzle {min(strange)}")
        puzzles = {name: worth for name, worth in full.puzzles.items() if name in wanted}
        full = Course(puzzles, full.due, full.late_percent_a_day, full.late_days, full.attempts)
    forced = sandbox.replace("-", " ") if sandbox else None
    confinement = verdicts.sandbox_mode(forced)
    click.echo(f"wia-lab: answers run in {confinement}", err=True)
    if confinement != "bubblewrap":
        click.echo(
            "wia-lab: without bubblewrap an answer is kept from files and the network by what it "
            "may say alone: install bubblewrap for a class that you do not trust",
            err=True,
        )
    warm()
    plan = Plan(
        submissions=submissions,
        out=out,
        course=full,
        seed=settle_seed(out, seed),
        limits=limits,
        confinement=confinement,
        nbval=nbval,
        roster=read_roster(roster) if roster else (),
        regrade=frozenset(regrade),
    )
    if jobs is None:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if scheduler:
        grader: Grader = partial(cluster.grade_all, scheduler=scheduler)
    else:
        grader = partial(pool.grade_all, jobs=jobs)
    students = set(plan.roster) | {each.student for each in collect(submissions)}
    for name in sorted(plan.regrade - students):
        listing = f"{submissions} and the roster say who there is"
        raise click.UsageError(unknown("student", name, students, listing))
    with click.progressbar(
        length=len(students), label="grading", show_pos=True, file=sys.stderr
    ) as bar:
        rows = grade_class(plan, grader, bar.update)
    for row in rows:
        if row["status"] != "graded" or row["findings"]:
            said = "; ".join(row["findings"])
            click.echo(f"{row['student']}: {row['status']}{': ' if said else ''}{said}")
    if any(row["sandbox"].endswith(AS_ROOT) for row in rows):
        click.echo(
            "wia-lab: answers ran as root inside the sandbox, as other users may not read "
            f"{sys.prefix}: open that folder to them, or grade as an ordinary user",
            err=True,
        )
    told = counted(len(rows), "student")
    click.echo(f"{told} graded with seed {plan.seed}: {out / 'gradebook.csv'}")
    return 0
