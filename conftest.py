"""pytest judges with the simulator, wherever it runs: in tests/, solutions/ and notebooks/."""

from __future__ import annotations

import os

# Before wia_lab.cuda is first used, and kept by the kernels and processes that tests start
os.environ.setdefault("WIA_LAB_BACKEND", "simulator")
