"""`wia-lab start`: fills the learner's folder, never overwrites, opens JupyterLab on it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from wia_lab.cli import main
from wia_lab.commands import start
from wia_lab.workbook import places
from wia_lab.workbook.places import notebook_paths

pytestmark = pytest.mark.usefixtures("small_workbook")


@pytest.fixture
def launched(monkeypatch):
    """Record the commands that would start JupyterLab, and start nothing."""
    calls = []

    def run(command, **options):
        calls.append((command, options))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(start.subprocess, "run", run)
    return calls


class TestFolder:
    """What the learner's folder holds afterwards."""

    def test_every_notebook_is_copied(self, in_folder, capsys):
        """A new folder gets each notebook of the package, byte for byte, and a state file."""
        assert main(["start", "--no-lab"]) == 0
        source, target = places.notebooks_folder(), in_folder / "my-notebooks"
        assert len(notebook_paths(source)) == 3
        for path in notebook_paths(source):
            copy = target / path.relative_to(source)
            assert copy.read_bytes() == path.read_bytes()
        assert (target / ".wia-lab.json").exists()
        assert capsys.readouterr().out == "my-notebooks/00-start.ipynb\n"

    def test_learner_keeps_every_change(self, in_folder, capsys):
        """A second start copies what is missing and touches nothing else."""
        main(["start", "mine", "--no-lab"])
        mine = in_folder / "mine"
        (mine / "00-start.ipynb").write_text("my own work")
        gone = next(path for path in notebook_paths(mine) if path.name != "00-start.ipynb")
        gone.unlink()
        capsys.readouterr()
        assert main(["start", "mine", "--no-lab"]) == 0
        assert (mine / "00-start.ipynb").read_text() == "my own work"
        assert gone.exists()
        assert "(1 copied)" in capsys.readouterr().err

    def test_a_file_is_no_folder(self, in_folder, capsys):
        """DIR that is a file is refused in one sentence."""
        (in_folder / "notes").write_text("")
        assert main(["start", "notes"]) == 3
        assert capsys.readouterr().err == (
            "wia-lab: notes is a file: name a folder for the notebooks\n"
        )

    def test_a_file_in_the_demos_place(self, in_folder, capsys):
        """It is named before anything is copied."""
        (in_folder / "mine").mkdir()
        (in_folder / "mine" / "demos").touch()
        assert main(["start", "mine", "--no-lab"]) == 3
        assert "mine/demos is a file, and notebooks belong into a" in capsys.readouterr().err
        assert [path.name for path in (in_folder / "mine").iterdir()] == ["demos"]

    def test_a_folder_that_cannot_be_made(self, in_folder, capsys):
        """DIR below a file is refused with the system's reason."""
        (in_folder / "notes").write_text("")
        assert main(["start", "notes/inner"]) == 3
        assert capsys.readouterr().err == (
            "wia-lab: the folder notes/inner cannot be made (Not a directory): name another one\n"
        )

    def test_a_folder_that_cannot_be_written(self, in_folder, capsys, monkeypatch):
        """DIR without the right to write is refused before anything is copied."""
        (in_folder / "locked").mkdir()
        # Root may write anywhere, so the answer is made
        monkeypatch.setattr(os, "access", lambda _path, mode: mode == os.R_OK)
        assert main(["start", "locked"]) == 3
        assert "the folder locked is not writable: name another one" in capsys.readouterr().err
        assert list((in_folder / "locked").iterdir()) == []


class TestLab:
    """How JupyterLab is started."""

    def test_opens_the_first_notebook_in_the_folder(self, in_folder, launched):
        """JupyterLab of this environment runs in the folder, on 00-start.ipynb."""
        assert main(["start", "mine"]) == 0
        [(command, options)] = launched
        page = "--LabApp.default_url=/lab/tree/00-start.ipynb"
        assert command[:4] == [sys.executable, "-m", "jupyterlab", page]
        assert "--LabApp.news_url=None" in command
        assert "--no-browser" not in command
        assert str(options["cwd"]) == "mine"

    def test_no_browser_is_handed_on(self, in_folder, launched):
        """--no-browser starts the server and opens nothing."""
        main(["start", "--no-browser", "--port", "18999"])
        [(command, _)] = launched
        assert command[4:6] == ["--port=18999", "--ServerApp.port_retries=0"]
        assert "--no-browser" in command

    def test_busy_port_is_refused(self, in_folder, launched, capsys):
        """A port in use is named, and JupyterLab is not started on another."""
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            assert main(["start", "--port", str(port)]) == 3
        assert f"port {port} cannot be used (Address already in use)" in capsys.readouterr().err
        assert launched == []

    def test_failure_of_jupyterlab_is_told(self, in_folder, monkeypatch, capsys):
        """A JupyterLab that ends with an error makes the command end with 3."""
        failed = subprocess.CompletedProcess([], 1)
        monkeypatch.setattr(start.subprocess, "run", lambda *_, **__: failed)
        assert main(["start"]) == 3
        assert "JupyterLab ended with exit code 1" in capsys.readouterr().err

    def test_ctrl_c_is_the_way_to_stop(self, in_folder, monkeypatch):
        """Stopping JupyterLab with Ctrl-C is no error."""

        def interrupted(*_args, **_options):
            raise KeyboardInterrupt

        monkeypatch.setattr(start.subprocess, "run", interrupted)
        assert main(["start"]) == 0

    def test_without_jupyterlab(self, in_folder, monkeypatch, capsys):
        """An environment without JupyterLab is told what to install."""
        monkeypatch.setattr(start, "find_spec", lambda _name: None)
        assert main(["start"]) == 3
        assert "python -m pip install jupyterlab" in capsys.readouterr().err
