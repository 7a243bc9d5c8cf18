"""What the ten acceptance checks of `docs/grading.md` ask for beside what other tests hold."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from wia_lab.errors import CannotRun
from wia_lab.grading import official, plain, sandbox, student
from wia_lab.grading.limits import Limits
from wia_lab.grading.sandbox import STRONG, Worker, WorkerDied
from wia_lab.grading.verdicts import judge_answer
from wia_lab.puzzles.curriculum import find

MIB = 1 << 20
SPREADSHEETS = [
    "=1+1",
    "@SUM(1)",
    "Ünal, Ada",
    'He said "no"',
    "two\nlines",
    "王小明",
    "ναι",
    "+49",
    "-1",
]


def request(setup, limits):
    """Return the request of an answer that has all of Python."""
    return {
        "kind": "kernel",
        "source": "",
        "function": "square",
        "setup": textwrap.dedent(setup),
        "facts": {"signature": []},
        "cases": ["t"],
        "limits": limits.plain(),
    }


@pytest.fixture
def strong():
    try:
        way = sandbox.mode(STRONG)
    except CannotRun as error:
        pytest.skip(str(error))
    return way


class TestFailClosed:
    """2. No positive evidence, no points."""

    def test_a_reply_cut_at_any_place(self, made):
        """A worker killed while it answers leaves a part of a reply: nothing passes."""
        whole = {}

        class Recorder(Worker):
            def ask(self, *arguments):
                whole.update(super().ask(*arguments))
                return dict(whole)

        source = made.solution("start")
        with Recorder(sandbox.mode()) as worker:
            assert judge_answer(find("start"), source, 5, Limits(), worker).verdict.passed
        text = json.dumps(whole["result"])

        class Cut:
            def __init__(self, result):
                self.result = result

            def ask(self, *_):
                try:
                    return {"fate": "ran", "result": json.loads(self.result)}
                except ValueError as error:
                    raise WorkerDied("not a whole reply") from error

        places = [*range(0, len(text), max(len(text) // 40, 1)), len(text) - 1]
        for place in places:
            found = judge_answer(find("start"), source, 5, Limits(), Cut(text[:place]))
            assert found.status == "crashed"
            assert not any(entry.passed for entry in found.verdict.entries)

    def test_a_part_left_out_of_a_reply(self, made):
        """Each list of a reply emptied, and each entry of a mapping struck: nothing passes."""
        source = made.solution("start")
        with Worker(sandbox.mode()) as worker:
            ask = worker.ask
            replies = []
            worker.ask = lambda *arguments: replies.append(ask(*arguments)) or replies[-1]
            assert judge_answer(find("start"), source, 5, Limits(), worker).verdict.passed
        result = plain.decode(replies[0]["result"])
        run = result["runs"][0]
        lesser = [{**result, "runs": result["runs"][:-1]}, {**result, "runs": []}]
        lesser += [{"refusal": None}, {"runs": result["runs"]}]
        needed = ("outputs", "changed", "hazards", "counters", "writers", "flight", "shuffles")
        for name in needed:
            part = {key: value for key, value in run.items() if key != name}
            lesser.append({**result, "runs": [part, *result["runs"][1:]]})
        for each in lesser:

            class Lesser:
                def ask(self, *_, each=each):
                    return {"fate": "ran", "result": plain.encode(each)}

            found = judge_answer(find("start"), source, 5, Limits(), Lesser())
            assert not any(entry.passed for entry in found.verdict.entries)

    @pytest.mark.parametrize("stage", ["empty verdict", "killed"])
    def test_nbval_without_a_verdict(self, made, tmp_path, monkeypatch, stage):
        """The verdict file emptied, or nbval killed: what had passed earns nothing."""
        write, run = official.write_atomically, subprocess.run

        def meddle(path, text):
            is_emptied = path.name == official.VERDICT and stage == "empty verdict"
            write(path, "{}" if is_emptied else text)

        def killed(command, **options):
            dying = ["/bin/sh", "-c", "kill -9 $$"]
            return run(dying if "--nbval" in command else command, **options)

        monkeypatch.setattr(official, "write_atomically", meddle)
        if stage == "killed":
            monkeypatch.setattr(official.subprocess, "run", killed)
        results = {
            "start": {"status": "graded", "notes": [], "entries": [["right answer", True, "right"]]}
        }
        confirmation = official.confirm(results, {"start": made.solution("start")})
        student.hold_against(results, confirmation)
        assert results["start"]["entries"] == [["right answer", False, "right"]]
        assert results["start"]["status"] == "grader_error"


class TestSecrets:
    """3. Nothing that an answer must not know is in its process."""

    def test_objects_environment_and_arguments(self, strong, monkeypatch, made):
        """A canary of the grader's environment, hints and solutions: in no object of the worker."""
        canary = "canary-" + os.urandom(8).hex()
        monkeypatch.setenv("CANARY", canary)
        record = find("start")
        secrets = [canary, *record.hints, made.solution("start"), "4f1c-the-seed"]
        digests = {hashlib.sha256(each.encode()).hexdigest(): len(each) for each in secrets}
        code = f"""
            import gc, hashlib, os, sys
            from types import FunctionType
            digests, lengths = {digests!r}, {set(digests.values())!r}

            def looks(text):
                return len(text) in lengths and hashlib.sha256(
                    text.encode("utf-8", "replace")).hexdigest() in digests

            seen, todo, texts = set(), [*gc.get_objects(), *os.environ.items(), *sys.argv], 0
            while todo:
                each = todo.pop()
                if id(each) in seen:
                    continue
                seen.add(id(each))
                if type(each) is str:
                    texts += 1
                    if looks(each):
                        raise LookupError
                elif type(each) in (dict, list, tuple, set, frozenset):
                    todo += gc.get_referents(each)
                else:
                    todo += [part for part in gc.get_referents(each)
                             if type(part) in (str, dict, tuple, list)]
                    if type(each) is FunctionType:
                        todo += each.__code__.co_consts
            if texts < 10_000:
                raise RuntimeError
            raise KeyError
        """
        with Worker(strong) as worker:
            assert judge_answer(record, made.solution("start"), 5, Limits(), worker).verdict.passed
            why = worker.ask(request(code, Limits(seconds=60)), 60.0, MIB)["why"]
        assert "KeyError" in why

    def test_another_students_answer(self, strong, made):
        """An answer judged before in the same worker has left nothing behind."""
        other = made.solution("start") + "\n# the-other-student-wrote-this\n"
        code = """
            import gc, linecache
            mark = "-".join(["the", "other", "student"])
            held = [each for each in gc.get_objects() if type(each) in (list, tuple, dict)]
            for each in held:
                for part in gc.get_referents(each):
                    if type(part) is str and mark in part and len(part) > 40:
                        raise LookupError
            raise KeyError
        """
        with Worker(strong) as worker:
            assert judge_answer(find("start"), other, 5, Limits(), worker).verdict.passed
            assert "KeyError" in worker.ask(request(code, Limits(seconds=60)), 60.0, MIB)["why"]


class TestLimits:
    """5. What an answer does to itself does nothing to the grader."""

    def test_memory_of_the_grader(self, strong):
        """Floods, bombs and a reply that is nested deep: the grader grows by less than 100 MB."""
        script = """
            import json, resource
            from wia_lab.grading.limits import Limits
            from wia_lab.grading.sandbox import STRONG, Worker, WorkerDied

            def peak():
                return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

            FLOOD = "import os\\nfor n in range(3, 40):\\n    try:\\n        while True:"
            FLOOD += " os.write(n, b'x' * (1 << 20))\\n    except OSError: pass"
            NEST = "import os\\nfor n in range(3, 40):\\n    try:\\n"
            NEST += "        os.write(n, b'[' * (9 << 20))\\n    except OSError: pass\\nos._exit(0)"
            ATTACKS = [FLOOD, NEST, "x = bytearray(100 << 30)", "while True: pass",
                       "import os\\nwhile True:\\n    try: os.fork()\\n    except OSError: pass",
                       "x = []\\nwhile True: x.append('y' * 1000000)"]
            fates = []
            with Worker(STRONG) as worker:
                def ask(setup, limits):
                    request = {"kind": "kernel", "source": "", "function": "f", "setup": setup,
                               "facts": {"signature": []}, "cases": ["t"],
                               "limits": limits.plain()}
                    try:
                        return worker.ask(request, limits.seconds, limits.output_mib << 20)["fate"]
                    except WorkerDied:
                        return "crashed"
                ask("raise KeyError", Limits())
                before = peak()
                for attack in ATTACKS:
                    fates.append(ask(attack, Limits(seconds=2, processes=8)))
            print(json.dumps([peak() - before, fates]))
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        grown, fates = json.loads(done.stdout)
        assert grown < 100
        assert set(fates) <= {"output", "crashed", "memory", "timeout"}


class TestResume:
    """7. A grader that is killed loses what it was doing, and nothing else."""

    def test_killed_in_the_middle(self, made, tmp_path):
        """`kill -9` after the first student; the next run judges the others alone."""
        for name in ("ann", "ben", "cat", "dan"):
            made.put(tmp_path / "in" / name, "start")
        out = tmp_path / "out"
        words = ["-m", "wia_lab", "grade", str(tmp_path / "in"), "-o", str(out), "--seed", "3"]
        words += ["--no-nbval", "--puzzle", "start", "--jobs", "1"]
        process = subprocess.Popen(
            [sys.executable, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=made.root,
            start_new_session=True,
        )
        while process.poll() is None and not list(out.glob("records/*.json")):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kept = {path: path.stat().st_mtime_ns for path in out.glob("records/*.json")}
        assert 1 <= len(kept) < 4
        assert not (out / "gradebook.csv").exists()
        judged = []

        def rest(tasks):
            for task in tasks:
                judged.append(task["student"])
                yield student.grade_student(task)

        rows = made.grade(
            tmp_path / "in",
            out,
            seed="3",
            limits=Limits(),
            course=made.course("start"),
            grader=rest,
        )
        assert [row["total"] for row in rows] == [2, 2, 2, 2]
        assert len(judged) == 4 - len(kept)


class TestGradebook:
    """9. Spreadsheets and learning platforms read what is written."""

    def test_names_that_spreadsheets_compute(self, made, tmp_path):
        """Commas, quotes, new lines, other alphabets, formulas: each arrives as text, once."""
        for name in SPREADSHEETS:
            made.put(tmp_path / "in" / name, "start", "import os\n")
        made.grade(tmp_path / "in", tmp_path / "out", course=made.course("start"))
        files = [tmp_path / "out" / f"{name}.csv" for name in ("gradebook", "canvas", "moodle")]
        for path in files:
            with path.open(encoding="utf-8-sig", newline="") as file:
                table = list(csv.reader(file))
            cells = [cell for row in table for cell in row]
            names = {cell.removeprefix("'").removeprefix("Participant ") for cell in cells}
            assert names.issuperset(SPREADSHEETS), path
            assert len({len(row) for row in table}) == 1
            for cell in cells:
                assert not cell.startswith(("=", "@")), cell
                assert cell.lstrip("-+").replace(".", "").isdigit() or cell[:1] not in ("+", "-")
        office = shutil.which("soffice")
        if office is None:
            pytest.skip("LibreOffice is not here, so no spreadsheet was opened")
        opened = as_libreoffice_reads(office, files[0], tmp_path)
        assert [row[0].removeprefix("'") for row in opened[1:]] == sorted(SPREADSHEETS)
        assert {float(row[2]) for row in opened[1:]} == {0}

    def test_platforms(self, made, tmp_path):
        """Of an export's name the number is the identifier that the platform knows."""
        made.put(tmp_path / "in" / "Ada Lovelace_4711_assignsubmission_file_", "start")
        made.grade(tmp_path / "in", tmp_path / "out", course=made.course("start"))
        canvas, moodle = (
            (tmp_path / "out" / name).read_text(encoding="utf-8-sig").splitlines()
            for name in ("canvas.csv", "moodle.csv")
        )
        assert canvas[1].startswith("Points Possible,,,,2")
        assert canvas[2] == "Ada Lovelace,4711,,,2.0"
        assert moodle[1] == "Participant 4711,Ada Lovelace,2.0,2.0"

    def test_one_student_judged_again(self, made, tmp_path):
        """`--regrade` judges whom it names, and nobody else."""
        for name in ("ann", "ben"):
            made.put(tmp_path / "in" / name, "start")
        course, judged = made.course("start"), []

        def spy(tasks):
            for task in tasks:
                judged.append(task["student"])
                yield student.grade_student(task)

        made.grade(tmp_path / "in", tmp_path / "out", course=course)
        again = frozenset({"ben"})
        made.grade(tmp_path / "in", tmp_path / "out", course=course, regrade=again, grader=spy)
        assert judged == ["ben"]


def as_libreoffice_reads(office, path, folder):
    """Return a table as LibreOffice shows it: opened, computed, and written again."""
    made = folder / "opened"
    subprocess.run(
        [
            office,
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            "--headless",
            "--convert-to",
            "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,1",
            "--infilter=Text - txt - csv (StarCalc):44,34,76,1",
            "--outdir",
            str(made),
            str(path),
        ],
        check=True,
        capture_output=True,
        timeout=300,
    )
    [written] = [*made.glob("*.csv")]
    with written.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(
    ("puzzle", "some"),
    [("start", "*"), ("buddy-allocator", "endless"), ("peer-to-peer", "frees_the_data")],
)
def test_desk_and_grader_agree(made, puzzle, some):
    """10. What a learner is told and what the grader says is one verdict, on the same inputs."""
    from wia_lab.puzzles.judging import judge
    from wia_lab.puzzles.mutants import load_answer

    record = find(puzzle)
    folder = Path(made.root) / "tests" / "mutants" / record.id
    with Worker(sandbox.mode()) as worker:
        for path in sorted(folder.rglob(f"{some}.py")):
            desk = judge(record, load_answer(path, record.function), seed=9, on_hardware=False)
            there = judge_answer(record, path.read_text(), 9, Limits(seconds=60), worker)
            pairs = [[(e.name, e.passed) for e in v.entries] for v in (desk, there.verdict)]
            assert pairs[0] == pairs[1], path.name
            kinds = [v.diagnosis and v.diagnosis.kind for v in (desk, there.verdict)]
            assert kinds[0] == kinds[1], path.name


def test_every_promise_names_tests_that_are_there(made):
    """The table of `docs/grading.md`: ten rows, and each file, class and function it names."""
    text = (made.root / "docs" / "grading.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 11))
    for _, tests in rows:
        held = ""
        for name in re.findall(r"`([^`]+)`", tests):
            first, *rest = name.split("::")
            path = made.root / "tests" / "grading" / f"{first}.py"
            if "/" in first:
                assert (made.root / first).exists(), name
                continue
            if path.exists():
                held = path.read_text(encoding="utf-8")
            else:
                rest = [first, *rest]
            for each in rest:
                assert re.search(rf"(class|def) {each}\b", held), name
