"""Make or refresh .venv, so that `make lab` and `make test` need no other set-up.

    python3 tools/setup_venv.py base|dev|cuda

Installs the pins of locks/LEVEL.txt and wia_lab itself, editable, into .venv; does nothing when
the locks and pyproject.toml are those of the last time. `cuda` is dev and the extra cuda13, into
.venv-cuda, as numba-cuda takes the place of numba.cuda. Needs Python and its venv module only.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST, NEWEST = (3, 11), (3, 13)
LOCKS = {"base": ("base",), "dev": ("dev",), "cuda": ("dev", "cuda13")}
AS_GOOD = {"base": ("base", "dev"), "dev": ("dev",), "cuda": ("cuda",)}
"""Each level, and those that hold all of it."""


def venv_of(level: str) -> Path:
    """Return the environment that a level is installed into."""
    return ROOT / (".venv-cuda" if level == "cuda" else ".venv")


def python_of(venv: Path) -> Path:
    """Return the interpreter of an environment, where this system puts it."""
    return venv / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def lock_files(level: str) -> list[Path]:
    """Return the locks of a level."""
    return [ROOT / "locks" / f"{name}.txt" for name in LOCKS[level]]


def fingerprint(level: str) -> str:
    """Return a hash of all that decides what is installed at `level`."""
    files = [ROOT / "pyproject.toml", ROOT / "hatch_build.py", *lock_files(level)]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def version_of(python: Path | str) -> tuple[int, int]:
    """Return (major, minor) of an interpreter."""
    code = "import sys; print(*sys.version_info[:2])"
    out = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout
    major, minor = out.split()
    return int(major), int(minor)


def refuse(message: str) -> None:
    """End with one sentence and exit code 3: this machine cannot."""
    print(f"wia-lab: {message}", file=sys.stderr)
    sys.exit(3)


def check_version(python: Path | str, way_out: str) -> None:
    """Refuse an interpreter that the pinned wheels do not support."""
    version = version_of(python)
    if not OLDEST <= version <= NEWEST:
        have = ".".join(map(str, version))
        refuse(f"{python} is Python {have}, and wia_lab needs 3.11 to 3.13: {way_out}")


def make_venv(venv: Path) -> None:
    """Create an environment unless a usable one is there."""
    if python_of(venv).exists():
        check_version(python_of(venv), f"remove the folder {venv.name} and try again")
        return
    check_version(sys.executable, "install one of these and run make PYTHON=python3.12, say")
    try:
        import ensurepip  # noqa: F401, PLC0415  Debian leaves it out of python3
    except ImportError:
        refuse("Python's venv module is missing: on Debian, apt-get install python3-venv")
    print(f"wia-lab: making {venv.name}", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)


def install(level: str) -> None:
    """Install the pins of `level`, then wia_lab itself without looking for more."""
    python = python_of(venv_of(level))
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    locks = lock_files(level)
    names = " and ".join(lock.relative_to(ROOT).as_posix() for lock in locks)
    print(f"wia-lab: installing {names} (minutes, the first time)", file=sys.stderr)
    requirements = [argument for lock in locks for argument in ("--requirement", lock)]
    try:
        subprocess.run([*pip, *requirements], check=True)
        subprocess.run([*pip, "--no-deps", "--editable", ROOT], check=True)
    except subprocess.CalledProcessError:
        refuse(f"pip could not install {names}: see its message above, then try again")


def stamp(level: str) -> Path:
    """Return the file that says with which locks a level was installed."""
    return venv_of(level) / f".wia-lab-{level}"


def main() -> int:
    """Bring an environment to the level named."""
    level = sys.argv[1] if len(sys.argv) == 2 else ""
    if level not in LOCKS:
        print(f"usage: setup_venv.py {'|'.join(LOCKS)}", file=sys.stderr)
        return 2
    make_venv(venv_of(level))
    for held in AS_GOOD[level]:
        if stamp(held).exists() and stamp(held).read_text() == fingerprint(held):
            return 0
    install(level)
    stamp(level).write_text(fingerprint(level))
    return 0


if __name__ == "__main__":
    sys.exit(main())
