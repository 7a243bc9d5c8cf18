"""What an answer that broke out of everything else still cannot do.

The code under `setup` is run by the worker with all of Python: as if an answer had got past what it
may say. It tells what it found by the name of the exception that it raises.
"""

from __future__ import annotations

import json
import os
import textwrap
import time
from pathlib import Path

import pytest

from wia_lab.errors import CannotRun
from wia_lab.grading import plain, sandbox, verdicts
from wia_lab.grading.limits import Limits
from wia_lab.grading.sandbox import STRONG, WEAK, Worker, WorkerDied
from wia_lab.puzzles.curriculum import find

LIMITS = Limits(seconds=2, output_mib=2, processes=8)
CANARY = "canary-" + "7f3a9"


def escaped(worker: Worker, code: str, limits: Limits = LIMITS) -> dict:
    """Run code in the worker's fork as an answer that has broken out would."""
    request = {
        "kind": "kernel",
        "source": "",
        "function": "square",
        "setup": textwrap.dedent(code),
        "facts": {"signature": []},
        "cases": ["t"],
        "limits": limits.plain(),
    }
    return worker.ask(request, limits.seconds, limits.output_mib << 20)


def judged(made, worker, source=None):
    """Judge the official answer to `start`: the worker still works."""
    source = made.solution("start") if source is None else source
    return verdicts.judge_answer(find("start"), source, 5, Limits(), worker)


def left_over(worker: Worker) -> list[str]:
    """Return the processes of the user that this process's answers run as."""
    user = 20_000 + os.getpid() % 40_000
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid == user:
                found.append((folder / "comm").read_text())
        except OSError:
            continue
    return found


@pytest.fixture(scope="module", params=[STRONG, WEAK])
def worker(request):
    """A worker in each way of confining it."""
    try:
        way = sandbox.mode(request.param)
    except CannotRun as error:
        pytest.skip(str(error))
    with Worker(way) as made:
        yield made


@pytest.fixture(scope="module")
def strong():
    """A worker in bubblewrap."""
    try:
        way = sandbox.mode(STRONG)
    except CannotRun as error:
        pytest.skip(str(error))
    with Worker(way) as made:
        yield made


class TestBothWays:
    """Limits that hold in bubblewrap and without it."""

    @pytest.mark.parametrize(
        ("code", "fate"),
        [
            ("import time\ntime.sleep(60)", "timeout"),
            ("while True: pass", "timeout"),
            (
                "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n"
                "    except (OSError, ValueError): pass\nwhile True: pass",
                "timeout",
            ),
            ("import os\nos._exit(0)", "crashed"),
            ("import os\nos.kill(os.getpid(), 9)", "crashed"),
            ("import os\nos.killpg(0, 9)", "crashed"),
            ("raise SystemExit(0)", "crashed"),
            ("x = bytearray(100 << 30)", "memory"),
            (
                "import os\nfor n in range(3, 40):\n    try: os.write(n, b'x' * (5 << 20))\n"
                "    except OSError: pass",
                "output",
            ),
            (
                "import os\nfor n in range(3, 40):\n    try: os.write(n, b'{}')\n"
                "    except OSError: pass\nos._exit(0)",
                "crashed",
            ),
        ],
        ids=("sleep loop deaf exit kill killpg SystemExit memory flood forged".split()),
    )
    def test_costs_its_own_answer_only(self, made, worker, code, fate):
        """The answer gets nothing, in time, and the next one is judged as ever."""
        begun = time.monotonic()
        try:
            reply = escaped(worker, code)
        except WorkerDied:
            reply = {"fate": "crashed"}
        assert time.monotonic() - begun < LIMITS.seconds + 60
        assert reply.get("fate", "crashed") == fate
        assert reply.get("fate") != "ran"
        assert judged(made, worker).verdict.passed

    def test_environment_is_bare(self, worker, monkeypatch):
        """Nothing of the grader's environment is in reach."""
        reply = escaped(worker, "import os\nif len(os.environ) > 16: raise LookupError")
        assert "LookupError" not in str(reply)

    def test_package_has_no_answers(self, worker):
        """References, hints and notebooks are not there to import."""
        code = """
            import importlib
            for name in ("puzzles.start", "puzzles.curriculum", "workbook", "kernels", "viz",
                         "puzzles.mutants", "puzzles.buddy_judging", "grading.verdicts"):
                try:
                    importlib.import_module(f"wia_lab.{name}")
                except ImportError:
                    continue
                raise LookupError(name)
            raise KeyError
        """
        assert "KeyError" in escaped(worker, code)["why"]


class TestBubblewrap:
    """What only a sandbox of namespaces holds."""

    def test_canary_is_not_found(self, strong, tmp_path):
        """A file of the grader's, a solution, the parent's memory: nothing of it is there."""
        (tmp_path / "canary.txt").write_text(CANARY)
        root = Path(__file__).resolve().parents[2]
        code = f"""
            import os
            gone = {str(tmp_path)!r}, {str(root / "solutions")!r}, "/proc/1", "/home", "/etc"
            for path in gone:
                if os.path.exists(path):
                    raise LookupError(path)
            for top, folders, files in os.walk("/"):
                if top.startswith(("/usr", "/lib")):
                    folders[:] = []
                for name in files:
                    if name.endswith((".ipynb", ".txt")) and "site-packages" not in top:
                        text = open(os.path.join(top, name), "rb").read()
                        if {CANARY.encode()!r} in text or b"BEGIN SOLUTION" in text:
                            raise LookupError(name)
            raise KeyError
        """
        assert "KeyError" in escaped(strong, code, Limits(seconds=20))["why"]

    @pytest.mark.parametrize(
        "code",
        [
            "import socket\nsocket.create_connection(('1.1.1.1', 53), 1)",
            "open('/owned', 'w')",
            "open('/stage/owned', 'w')",
            "open('/usr/owned', 'w')",
            "import os\nos.setuid(0)",
            "import os\nos.kill(os.getppid(), 9)",
        ],
    )
    def test_refused_by_the_system(self, made, strong, code):
        """No network, nothing to write to, no way back to root, no signal to the supervisor."""
        if os.getuid() != 0 and ("setuid" in code or "getppid" in code):
            pytest.skip("as an ordinary user the supervisor has the answer's rights")
        assert "Error" in escaped(strong, code)["why"]
        assert judged(made, strong).verdict.passed

    def test_fork_bomb(self, made, strong):
        """Processes are counted; when the answer ends, all are gone."""
        code = (
            "import os, time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(.1)"
        )
        reply = escaped(strong, code)
        assert reply["fate"] == "timeout"
        assert judged(made, strong).verdict.passed
        assert left_over(strong) == []

    def test_daemon(self, made, strong):
        """A process that was forked twice and has a session of its own is gone as well."""
        code = (
            "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
            "        time.sleep(600)\n    os._exit(0)\nos._exit(0)"
        )
        assert escaped(strong, code)["fate"] == "crashed"
        assert judged(made, strong).verdict.passed
        assert left_over(strong) == []


class TestFailClosed:
    """A reply that is not whole earns nothing."""

    @pytest.mark.parametrize(
        "reply",
        [
            {},
            {"fate": "ran"},
            {"fate": "ran", "result": None},
            {"fate": "ran", "result": ["d", ["runs", ["l"]], ["refusal", None]]},
            {"fate": "ran", "result": ["r", "Diagnosis"]},
            {"fate": "ran", "result": ["x", 1]},
            {"fate": "ran", "result": ["a", "O", [1], ""]},
            {"fate": "ran", "result": ["d", ["runs", ["l", ["d"]]], ["refusal", None]]},
            {"fate": "graded", "verdict": {"passed": True}},
        ],
    )
    def test_forged_reply(self, made, reply):
        """Whatever the worker says instead of a run, no entry passes."""

        class Liar:
            def ask(self, *_):
                return reply

        found = judged(made, Liar())
        assert found.status == "crashed"
        assert not any(entry.passed for entry in found.verdict.entries)

    def test_silence(self, made):
        """No reply at all is a crash."""

        class Silent:
            def ask(self, *_):
                raise WorkerDied("the worker has ended")

        assert judged(made, Silent()).status == "crashed"


class TestPlain:
    """The form of what goes over the pipe."""

    def test_round_trip(self):
        """Arrays, tuples and mappings arrive as they were."""
        import numpy as np

        value = {"a": (1, [2.5, None, "x"]), (1, 2): np.arange(6, dtype=np.int16).reshape(2, 3)}
        found = plain.loads(plain.dumps(value))
        assert found["a"] == value["a"]
        assert (found[1, 2] == value[1, 2]).all()
        assert found[1, 2].dtype == np.int16

    def test_strangers_equal_nothing(self):
        """An object, or an int that lies, arrives as something that equals nothing."""

        class Liar(int):
            def __eq__(self, other):
                return True

            __hash__ = int.__hash__

        found = plain.loads(plain.dumps([Liar(3), object()]))
        assert not any(each == 3 for each in found)
        assert found[0] != found[0]

    def test_no_pickle(self):
        """An array of objects is refused."""
        with pytest.raises(plain.PlainError):
            plain.loads(json.dumps(["a", "O", [1], "AAAAAAAAAAA="]))
