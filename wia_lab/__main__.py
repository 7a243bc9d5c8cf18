"""`python -m wia_lab` is `wia-lab`."""

from __future__ import annotations

import sys

from wia_lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
