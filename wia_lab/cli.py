"""The command `wia-lab`.

Exit codes: 0 well, 1 a check failed, 2 wrong usage, 3 this machine or folder cannot.
Results go to stdout, progress and errors to stderr; every error is one sentence.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from wia_lab import __version__
from wia_lab.commands.lazy import LazyGroup
from wia_lab.errors import CannotRun, WiaLabError
from wia_lab.settings import check_settings

COMMANDS = {
    "start": "wia_lab.commands.start:start",
    "check": "wia_lab.commands.check:check",
    "puzzles": "wia_lab.commands.progress:puzzles",
    "hint": "wia_lab.commands.progress:hint",
    "progress": "wia_lab.commands.progress:progress",
    "reset": "wia_lab.commands.progress:reset",
    "submit": "wia_lab.commands.submit:submit",
    "release": "wia_lab.commands.release:release",
    "grade": "wia_lab.commands.grade:grade",
    "build": "wia_lab.commands.build:build",
    "doctor": "wia_lab.commands.doctor:doctor",
    "bench": "wia_lab.commands.bench:bench",
    "conformance": "wia_lab.commands.conformance:conformance",
}
"""Each command's name and where its function stands, in the order of the help page."""

WAYS_OUT = {
    errno.ENOENT: "check the name",
    errno.ENOTDIR: "check the name",
    errno.EISDIR: "name a file",
    errno.EEXIST: "name another",
    errno.EACCES: "choose a place that you may read and write",
    errno.EPERM: "choose a place that you may read and write",
    errno.EROFS: "choose a place that can be written",
    errno.ENOSPC: "free some space",
}
"""What to do when a file or a folder cannot be used."""


@click.group(
    cls=LazyGroup,
    homes=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="wia-lab")
def group() -> None:
    """Learn accelerator memory in JupyterLab: puzzles, judged by a simulator on any machine."""
    check_settings()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; `argv` defaults to the process's own."""
    args = None if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="replace")  # a terminal without × or µ still gets the rest
    try:
        refuse_lost_folder()
        return group.main(args=args, prog_name="wia-lab", standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.UsageError as error:
        complain(usage_sentence(error))
        return error.exit_code
    except WiaLabError as error:
        complain(error)
        return error.exit_code
    except BrokenPipeError:
        # The reader went away (`wia-lab progress | head`): nothing is left to say, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        complain(system_sentence(error))
        return 3
    except (KeyboardInterrupt, click.Abort):
        complain("stopped")
        return 130


def refuse_lost_folder() -> None:
    """Raise CannotRun where the current folder was removed under the shell."""
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise CannotRun("the current folder no longer exists: change to another one") from error


def complain(message: object) -> None:
    """Print an error as every command prints it."""
    print(f"wia-lab: {message}", file=sys.stderr)


def system_sentence(error: OSError) -> str:
    """Return the system's refusal in the house's form."""
    thing, reason = error.filename or "this machine", error.strerror or error
    way_out = WAYS_OUT.get(error.errno or 0)
    return f"{thing} cannot be used ({reason}): {way_out}" if way_out else f"{thing}: {reason}"


def usage_sentence(error: click.UsageError) -> str:
    """Return click's message in the house's form: one sentence that ends in the way out."""
    text = " ".join(error.format_message().split()).rstrip(".")
    text = text[:1].lower() + text[1:]
    if error.ctx is None or error.ctx.info_name == "wia-lab" or text.endswith("?"):
        return text
    return f"{text}: see {error.ctx.command_path} --help"
