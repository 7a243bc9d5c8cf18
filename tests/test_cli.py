"""The command line: each command line has one outcome, an exit code and what is printed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from wia_lab import cli
from wia_lab.errors import CannotRun, CheckFailed

OUTCOMES = [
    # argv, exit code, what stdout holds, what stderr is
    ("", 2, "", "Usage: wia-lab"),
    ("--version", 0, "wia-lab, version 0.1.0", ""),
    ("--help", 0, "Open the workbook in JupyterLab.", ""),
    ("start --help", 0, "--no-browser", ""),
    ("stat", 2, "", "there is no command 'stat': did you mean start?"),
    ("xyzzy", 2, "", "there is no command 'xyzzy': see wia-lab --help"),
    ("--frobnicate", 2, "", "no such option '--frobnicate'"),
    ("hint", 2, "", "missing argument 'PUZZLE': see wia-lab hint --help"),
    (
        "hint tiled-matmull",
        2,
        "",
        "there is no puzzle 'tiled-matmull': did you mean 'tiled-matmul'?",
    ),
    ("reset 99", 2, "", "there is no puzzle '99': wia-lab puzzles lists the 16 that there are\n"),
    ("hint softmax", 2, "", "there is no puzzle 'softmax': did you mean 'reduction-softmax'?\n"),
    ("puzzles", 0, "06  tiled-matmul         threads that need the same numbers", ""),
    ("check no-such", 2, "", "there is no puzzle 'no-such'"),
    ("check a b", 2, "", "got unexpected extra argument (b): see wia-lab check --help"),
    (
        "check 6",
        3,
        "",
        "no workbook in {here} nor {here}/my-notebooks, neither .wia-lab.json nor a puzzle's "
        "notebook: run wia-lab start first, or name the learner's folder with --dir\n",
    ),
    ("check --mutants --dir .", 2, "", "--mutants judges the clone's own answers: leave --dir out"),
    ("progress --dir elsewhere", 3, "", "there is no folder elsewhere: name the learner's folder"),
    ("hint 6 --dir .", 3, "", "no workbook in ., neither .wia-lab.json nor a puzzle's notebook"),
    ("submit --dir {EMPTY}", 2, "", "'--dir': the name is empty: write . for this folder: see"),
    (
        "release {EMPTY}",
        2,
        "",
        "invalid value for 'DIR': the name is empty: write . for this folder",
    ),
    ("start {EMPTY} --no-lab", 2, "", "the name is empty: write . for this folder"),
    ("grade . -o {EMPTY}", 2, "", "invalid value for '-o' / '--out': the name is empty"),
    ("grade . -o out --scheduler xyz", 2, "", "--scheduler 'xyz' is no address: tcp://HOST:8786"),
    ("grade . -o out --seconds nan", 3, "", "limit seconds is nan: it must be 0.1 or more"),
    (
        "grade . -o out --course x.toml",
        3,
        "",
        "x.toml cannot be used (No such file or directory): ",
    ),
    ("start --port 0", 2, "", "invalid value for '--port': 0 is not in the range 1<=x<=65535"),
    ("start a b", 2, "", "got unexpected extra argument (b): see wia-lab start --help"),
    ("build --check --run all", 2, "", "--check writes nothing, and --run stores outputs"),
    ("build --run 77-none", 2, "", "there is no 77-none.ipynb in "),
    ("bench", 2, "", "Usage: wia-lab bench"),
    ("bench xyzzy", 2, "", "there is no command 'xyzzy': see wia-lab bench --help"),
    ("bench simulatr", 2, "", "there is no command 'simulatr': did you mean simulator?"),
]


@pytest.mark.parametrize(("line", "code", "out", "err"), OUTCOMES, ids=[o[0] for o in OUTCOMES])
def test_outcome(line, code, out, err, in_folder, capsys):
    """Usage is 2, what this folder cannot do is 3, and the sentence says the way out."""
    assert cli.main([word.replace("{EMPTY}", "") for word in line.split()]) == code
    printed = capsys.readouterr()
    assert out in printed.out
    assert err.format(here=in_folder) in printed.err
    if code and not printed.err.startswith("Usage:"):
        assert printed.err.count("\n") == 1
        assert printed.err.startswith("wia-lab: ")


class TestErrors:
    """What a command raises becomes one sentence and an exit code."""

    @pytest.mark.parametrize(
        ("error", "code", "sentence"),
        [
            (CheckFailed("line 3: out of bounds"), 1, "line 3: out of bounds"),
            (CannotRun("no kernel here"), 3, "no kernel here"),
            (
                PermissionError(13, "Permission denied", "x.ipynb"),
                3,
                "x.ipynb cannot be used (Permission denied): choose a place that you may read and "
                "write",
            ),
            (OSError("disk on fire"), 3, "this machine: disk on fire"),
            (KeyboardInterrupt(), 130, "stopped"),
        ],
        ids=["check", "machine", "file", "system", "interrupt"],
    )
    def test_exception_is_a_sentence(self, error, code, sentence, monkeypatch, capsys):
        """Each class has its exit code; no traceback is printed."""

        def fail(**_options):
            raise error

        monkeypatch.setattr(cli.group, "main", fail)
        assert cli.main(["progress"]) == code
        assert capsys.readouterr().err == f"wia-lab: {sentence}\n"

    def test_a_defect_is_not_hidden(self, monkeypatch):
        """An exception that is no user's mistake keeps its traceback."""

        def fail(**_options):
            raise ZeroDivisionError

        monkeypatch.setattr(cli.group, "main", fail)
        with pytest.raises(ZeroDivisionError):
            cli.main(["progress"])

    def test_reader_that_goes_away_gets_no_traceback(self):
        """`wia-lab --help | head -0` ends quietly."""
        code = (
            "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 1); "
            "from wia_lab.cli import main; main(['--help']); sys.exit(7)"
        )
        done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        assert done.stderr == ""

    def test_a_terminal_that_lacks_a_sign_gets_the_rest(self):
        """No encoding of the terminal ends a command: what it lacks is a question mark."""
        done = subprocess.run(
            [sys.executable, "-m", "wia_lab", "bench", "simulator", "--help"],
            env={**os.environ, "PYTHONIOENCODING": "cp437"},
            capture_output=True,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"Run 256?256 on Numba's" in done.stdout

    @pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that somebody is in")
    def test_a_folder_removed_under_the_shell(self, tmp_path):
        """What is gone is the current folder, and the sentence says so."""
        code = (
            "import os, sys; os.rmdir(os.getcwd()); from wia_lab.cli import main; main(['puzzles'])"
        )
        gone = tmp_path / "gone"
        gone.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=gone, capture_output=True, text=True
        )
        assert done.stderr == (
            "wia-lab: the current folder no longer exists: change to another one\n"
        )

    def test_module_is_the_command(self):
        """`python -m wia_lab` gives the same exit code as `wia-lab`."""
        done = subprocess.run([sys.executable, "-m", "wia_lab", "nope"], capture_output=True)
        assert done.returncode == 2
