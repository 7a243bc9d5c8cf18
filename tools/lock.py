"""Write locks/*.txt from pyproject.toml: every transitive dependency, pinned, for every platform.

    python -m pip install uv
    python tools/lock.py            # keeps pins that still fit
    python tools/lock.py --upgrade  # newest versions that fit

`base` is what a learner needs; the others add an extra and keep base's pins.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = {
    "base": (),
    "dev": ("dev", "grading", "demos"),
    "cuda12": ("cuda12",),
    "cuda13": ("cuda13",),
}


def compile_command(name: str, extras: tuple[str, ...], options: list[str]) -> list[str]:
    """Return the uv command that writes locks/`name`.txt."""
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    command += ["--no-header", "--annotation-style", "line", "pyproject.toml"]
    for extra in extras:
        command += ["--extra", extra]
    if name != "base":
        command += ["--constraint", "locks/base.txt"]
    return [*command, *options, "--output-file", f"locks/{name}.txt"]


def main() -> int:
    """Compile every lock; the extras' pins follow base's."""
    (ROOT / "locks").mkdir(exist_ok=True)
    for name, extras in EXTRAS.items():
        subprocess.run(compile_command(name, extras, sys.argv[1:]), cwd=ROOT, check=True)
        print(f"locks/{name}.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
