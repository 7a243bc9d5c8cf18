"""The reference kernels on a GPU: right answers, then times beside copies, cuBLAS and cuDNN.

    python benchmarks/kernels_hardware.py [TOPIC ...]

Standalone: needs this repository, numba-cuda and PyTorch. Prints one table and writes it as
benchmarks_kernels_h200.csv to $OUT (or the current folder). Takes about three minutes.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from wia_lab.kernels import table
from wia_lab.kernels.bench import NAMES, wrong_answers
from wia_lab.kernels.measure import Row, measure
from wia_lab.kernels.workloads import WORKLOADS


def main(topics: list[str]) -> int:
    """Measure topic by topic; one that fails is shown, and the others go on."""
    target = Path(os.environ.get("OUT", ".")) / table.RECORDED
    notes = table.circumstances("python benchmarks/kernels_hardware.py " + " ".join(topics))
    print("\n".join(notes), flush=True)
    rows: list[Row] = []
    failed = []
    asked = [each.topic.name for each in WORKLOADS if each.reach is not None]  # these first
    for topic in topics or [*asked, *(name for name in NAMES if name not in asked)]:
        try:
            for row in measure((topic,)):
                rows.append(row)
                print(table.render([row]).splitlines()[-1], flush=True)
        except Exception:
            failed.append(topic)
            traceback.print_exc(limit=-4)
        target.write_text(table.write(rows, [note.rstrip() for note in notes]), encoding="utf-8")
    print(table.render(rows))
    wrong = wrong_answers(rows)
    print("wrong answers:", ", ".join(wrong) or "none", "| failed:", ", ".join(failed) or "none")
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
