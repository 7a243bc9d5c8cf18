"""Ask the registry for a wheel of every pin of locks/base.txt, for each Python and platform.

    python tools/check_lock.py

Nothing is installed: `pip download --only-binary=:all:` into a temporary folder, one run a
combination. Needs the network and some minutes; prints one line a combination, exits with 1 when
one is incomplete.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.requirements import Requirement

LOCK = Path(__file__).resolve().parent.parent / "locks" / "base.txt"
PYTHONS = ("3.11.2", "3.11.9", "3.12.1", "3.13.0")  # 3.11.2 is Debian 12's
MANYLINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
PLATFORMS = {
    "Linux x86-64": [f"{tag}_x86_64" for tag in (*MANYLINUX, "manylinux_2_5", "manylinux1")],
    "Linux ARM": [f"{tag}_aarch64" for tag in MANYLINUX],
    "macOS ARM": [f"macosx_{major}_0_{arch}" for major in (14, 13, 12, 11)
                  for arch in ("arm64", "universal2")],
    "Windows x86-64": ["win_amd64"],
}  # fmt: skip
SYSTEMS = {
    "Linux x86-64": {"sys_platform": "linux", "os_name": "posix", "platform_machine": "x86_64"},
    "Linux ARM": {"sys_platform": "linux", "os_name": "posix", "platform_machine": "aarch64"},
    "macOS ARM": {"sys_platform": "darwin", "os_name": "posix", "platform_machine": "arm64"},
    "Windows x86-64": {"sys_platform": "win32", "os_name": "nt", "platform_machine": "AMD64"},
}


def pins_for(python: str, system: str) -> list[str]:
    """Return the pins whose markers hold on `system`.

    pip evaluates markers for the machine that it runs on, whatever --platform says.
    """
    environment = {
        **SYSTEMS[system],
        "python_version": python.rpartition(".")[0],
        "python_full_version": python,
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    pins = []
    for line in LOCK.read_text().splitlines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            pins.append(f"{requirement.name}{requirement.specifier}")
    return pins


def download(python: str, system: str) -> subprocess.CompletedProcess[str]:
    """Let pip fetch every wheel for one combination; the pins are complete, so no dependencies."""
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "pins.txt"
        pins.write_text("\n".join(pins_for(python, system)) + "\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--python-version", python, "--dest", folder]
        for tag in PLATFORMS[system]:
            command += ["--platform", tag]
        command += ["--requirement", str(pins)]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def main() -> int:
    """Try every combination; the exit code tells whether all passed."""
    failed = False
    for system in PLATFORMS:
        for python in PYTHONS:
            done = download(python, system)
            count = len(pins_for(python, system))
            said = f"{count} wheels" if done.returncode == 0 else done.stderr.strip()[-400:]
            print(f"Python {python} on {system}: {said}", flush=True)
            failed |= done.returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
