"""Make or refresh .venv, so that `make lab` and `make test` need no other set-up.

    python3 tools/setup_venv.py base|dev

Installs the pins of locks/LEVEL.txt and wia_lab itself, editable, into .venv; does nothing when
the locks and pyproject.toml are those of the last time. Needs Python and its venv module only.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
OLDEST, NEWEST = (3, 11), (3, 13)
LEVELS = ("base", "dev")


def venv_python() -> Path:
    """Return the interpreter of .venv, where this system puts it."""
    return VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def fingerprint(level: str) -> str:
    """Return a hash of all that decides what is installed at `level`."""
    files = [ROOT / "pyproject.toml", ROOT / "hatch_build.py", ROOT / "locks" / f"{level}.txt"]
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


def make_venv() -> None:
    """Create .venv unless a usable one is there."""
    if venv_python().exists():
        check_version(venv_python(), "remove the folder .venv and try again")
        return
    check_version(sys.executable, "install one of these and run make PYTHON=python3.12, say")
    try:
        import ensurepip  # noqa: F401, PLC0415  Debian leaves it out of python3
    except ImportError:
        refuse("Python's venv module is missing: on Debian, apt-get install python3-venv")
    print("wia-lab: making .venv", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)


def install(level: str) -> None:
    """Install the pins of `level`, then wia_lab itself without looking for more."""
    pip = [venv_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    print(f"wia-lab: installing locks/{level}.txt (minutes, the first time)", file=sys.stderr)
    subprocess.run([*pip, "--requirement", ROOT / "locks" / f"{level}.txt"], check=True)
    subprocess.run([*pip, "--no-deps", "--editable", ROOT], check=True)


def main() -> int:
    """Bring .venv to the level named; `dev` holds all of `base`."""
    level = sys.argv[1] if len(sys.argv) == 2 else ""
    if level not in LEVELS:
        print(f"usage: setup_venv.py {'|'.join(LEVELS)}", file=sys.stderr)
        return 2
    good_enough = LEVELS[LEVELS.index(level) :]
    stamps = [VENV / f".wia-lab-{name}" for name in good_enough]
    make_venv()
    for name, stamp in zip(good_enough, stamps, strict=True):
        if stamp.exists() and stamp.read_text() == fingerprint(name):
            return 0
    try:
        install(level)
    except subprocess.CalledProcessError:
        refuse(f"pip could not install locks/{level}.txt: see its message above, then try again")
    stamps[0].write_text(fingerprint(level))
    return 0


if __name__ == "__main__":
    sys.exit(main())
